; id: shell.install
; severity: warning
; message: installs software
; sandbox: What is installed brings code of its own, and runs some of it at once; the image's root is read-only.
; hosts: yes
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "pip" "pip3" "pipx" "conda" "mamba" "npm" "pnpm" "yarn" "apt-get" "apt" "yum" "dnf" "apk" "brew" "gem" "cargo" "go" "snap" "pacman" "dotnet" "uv" "*/pip")
 (#any-of? @word "install" "add" "ci" "get" "-S" "-Sy" "update"))
((command name: (_) @name . argument: (word) @flag . argument: (word) @module argument: (word) @word) @found
 (#resolves? @name "python" "python3" "*/python3" "*/python") (#eq? @flag "-m") (#any-of? @module "pip" "ensurepip") (#eq? @word "install"))
((command name: (_) @name argument: (word) @tool argument: (word) @word) @found
 (#eq? @name "sudo") (#any-of? @tool "pip" "pip3" "apt-get" "apt" "yum" "dnf" "npm" "apk" "snap") (#any-of? @word "install" "add"))
((command name: (_) @name) @found (#resolves? @name "npx" "dpkg" "rpm"))
