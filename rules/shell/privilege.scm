; id: shell.privilege
; severity: error
; message: asks for more rights, or stays when the program is gone
; sandbox: There is no privilege to be had inside, and nothing survives the run.
((command name: (_) @name) @found
 (#resolves? @name "sudo" "su" "doas" "pkexec" "chroot" "mount" "umount" "insmod" "modprobe" "setcap" "setfacl" "useradd" "usermod" "passwd" "visudo" "crontab" "systemctl" "service" "iptables" "nft" "sysctl" "nsenter" "unshare" "ptrace" "gdb" "chattr" "at" "*/sudo"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "chmod") (#match? @word "^([ugoa]*[+]s|0?[2-7][0-7]{3})$"))
((variable_assignment name: (variable_name) @name) @found (#any-of? @name "LD_PRELOAD" "LD_AUDIT" "BASH_ENV"))
