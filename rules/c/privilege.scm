; id: c.privilege
; severity: error
; message: makes a system call that changes what a process may do
; sandbox: There is no privilege to be had inside, and the filter refuses most of these.
((call_expression function: (_) @name) @found
 (#resolves? @name "ptrace" "setuid" "setgid" "setreuid" "setresuid" "setregid" "setresgid" "seteuid" "setegid" "setgroups" "capset" "cap_set_proc" "chroot" "pivot_root" "mount" "umount" "umount2" "unshare" "setns" "init_module" "finit_module" "delete_module" "kexec_load" "bpf" "perf_event_open" "process_vm_readv" "process_vm_writev" "iopl" "ioperm" "mknod" "reboot" "personality" "keyctl" "userfaultfd" "open_by_handle_at" "syscall"))
