; id: shell.network
; severity: warning
; message: uses the network
; sandbox: There is none without --allow; what it needs is a rule for each host.
; hosts: yes
((command name: (_) @name) @found
 (#resolves? @name "curl" "wget" "nc" "ncat" "netcat" "socat" "telnet" "ssh" "scp" "sftp" "rsync" "ftp" "lftp" "aria2c" "dig" "nslookup" "ping" "*/curl" "*/wget" "*/nc" "*/ssh" "http" "https" "axel" "nmap"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "sudo" "env" "exec" "nohup" "time" "timeout" "xargs" "busybox" "torsocks" "proxychains")
 (#resolves? @word "curl" "wget" "nc" "ncat" "ssh" "scp" "rsync" "*/curl" "*/wget"))
; "command -v curl" asks where it is.
((command name: (_) @name . argument: (_) @word) @found
 (#resolves? @name "command") (#resolves? @word "curl" "wget" "nc" "ncat" "ssh" "scp" "rsync" "*/curl" "*/wget"))
((command name: (_) @name . argument: (_) @flag . argument: (_) @word) @found
 (#resolves? @name "command") (#eq? @flag "-p") (#resolves? @word "curl" "wget" "nc" "ncat" "ssh" "scp" "rsync"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "openssl") (#any-of? @word "s_client" "s_server"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "git") (#any-of? @word "clone" "fetch" "pull" "push" "ls-remote" "submodule"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "aws" "gsutil" "gcloud" "az" "rclone" "huggingface-cli" "kaggle") (#any-of? @word "s3" "cp" "rsync" "download" "storage" "copy" "sync" "datasets"))
((file_redirect destination: (_) @found) (#match? @found "^[\"']?/dev/(tcp|udp)/"))
