; id: shell.dynamic-code
; severity: error
; message: runs text as code
; sandbox: What runs is not what stands here: no look at the source says what it does.
((command name: (_) @name) @found (#resolves? @name "eval"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "builtin" "command") (#eq? @word "eval"))
; ... | sh
((pipeline (command name: (_) @name !argument)) @found
 (#resolves? @name "sh" "bash" "dash" "zsh" "ksh" "*/sh" "*/bash" "python" "python3" "perl" "node" "ruby"))
((pipeline (command name: (_) @name argument: (word) @word)) @found
 (#resolves? @name "sh" "bash" "dash" "zsh" "ksh" "*/sh" "*/bash" "python" "python3" "perl" "node" "ruby" "sudo")
 (#any-of? @word "-" "-s" "-e" "-x" "-eux" "sh" "bash"))
; sh -c "$x", python -c '...'
((command name: (_) @name argument: (word) @word) @found
 (#resolves? @name "sh" "bash" "dash" "zsh" "ksh" "*/sh" "*/bash") (#match? @word "^-[a-z]*c$"))
((command name: (_) @name argument: (word) @word) @found
 (#resolves? @name "python" "python2" "python3" "perl" "ruby" "node" "php" "*/python3" "*/perl" "osascript")
 (#match? @word "^-(c|e|r|E|pe|ne|le)$"))
; xargs sh -c '...', find -exec sh -c '...'
((command name: (_) @name argument: (word) @shell . argument: (word) @word) @found
 (#resolves? @name "xargs" "find" "env" "timeout" "nohup" "exec" "command" "time" "nice" "setsid" "busybox" "stdbuf" "parallel")
 (#any-of? @shell "sh" "bash" "dash" "zsh" "ksh" "/bin/sh" "/bin/bash") (#match? @word "^-[a-z]*c$"))
; . <(curl ...), source /dev/stdin
((command name: (_) @name argument: [(process_substitution) (simple_expansion) (expansion) (command_substitution)]) @found
 (#resolves? @name "." "source" "sh" "bash"))
((command name: (_) @name argument: (string [(simple_expansion) (expansion) (command_substitution)])) @found
 (#resolves? @name "." "source"))
; sh <<'END', sh <<< "$x"
((redirected_statement body: (command name: (_) @name) redirect: [(heredoc_redirect) (herestring_redirect)]) @found
 (#resolves? @name "sh" "bash" "dash" "zsh" "ksh" "*/sh" "*/bash"))
((command name: (_) @name (herestring_redirect)) @found
 (#resolves? @name "sh" "bash" "dash" "zsh" "ksh" "*/sh" "*/bash"))
; trap 'eval "$x"' EXIT
((command name: (_) @name . argument: [(string) (raw_string)] @word) @found
 (#resolves? @name "trap") (#match? @word "(^|[\"';&| ])eval "))
; $x as the command, where nothing in the file says what it is
((command name: (command_name [(command_substitution) (string (command_substitution))])) @found)
