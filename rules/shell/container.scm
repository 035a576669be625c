; id: shell.container
; severity: warning
; message: drives a container engine
; sandbox: Whoever reaches the engine's socket has the host; there is none inside.
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "docker" "podman" "nerdctl" "ctr" "crictl" "lxc" "kubectl" "*/docker")
 (#any-of? @word "run" "exec" "create" "start" "build" "pull" "push" "cp" "apply" "compose"))
