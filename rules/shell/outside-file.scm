; id: shell.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((command name: (_) @name argument: [(word) (string) (raw_string) (concatenation)] @path) @found
 (#resolves? @name "cat" "cp" "mv" "rm" "ln" "tee" "touch" "mkdir" "rmdir" "chmod" "chown" "dd" "find" "ls" "tar" "zip" "head" "tail" "less" "grep" "sed" "install" "shred" "truncate" "cd" "source" "." "base64" "xxd" "strings" "rsync" "scp")
 (#outside? @path) (#not-match? @path "^[\"']?/(dev/(tcp|udp|null|std|fd)|proc/self/fd|[^/ ]*/[dgimpsy,]*[\"']?$)"))
((command name: (_) @name argument: (concatenation (simple_expansion) @home) @path) @found
 (#resolves? @name "cat" "cp" "mv" "rm" "ln" "tee" "touch" "chmod" "find" "ls" "tar" "head" "tail" "grep" "source" "." "cd") (#eq? @home "$HOME"))
((command name: (_) @name argument: (string (simple_expansion) @home)) @found
 (#resolves? @name "cat" "cp" "mv" "rm" "ln" "tee" "touch" "chmod" "find" "ls" "tar" "head" "tail" "grep" "source" "." "cd") (#any-of? @home "$HOME" "${HOME}"))
((file_redirect destination: (_) @path) @found
 (#outside? @path) (#not-match? @path "^[\"']?/dev/(tcp|udp|null|std|fd|tty)"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "dd") (#match? @word "^(if|of)=[\"']?(/|~|[.][.]|[$]HOME)")
 (#not-match? @word "=[\"']?/(tmp/|scratch/|dev/(null|zero|u?random|std|fd))"))
((command name: (_) @name argument: (word) @flag . argument: (word) @path) @found
 (#resolves? @name "tar" "unzip" "chroot") (#any-of? @flag "-C" "-d" "--directory") (#eq? @path "/"))
