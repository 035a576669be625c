; id: c.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((call_expression function: (_) @name arguments: (argument_list . (_) @path)) @found
 (#resolves? @name "fopen" "fopen64" "freopen" "open" "open64" "creat" "std.fopen" "opendir" "unlink" "remove" "std.remove" "rename" "stat" "lstat" "access" "chmod" "chown" "mkdir" "rmdir" "symlink" "link" "readlink" "truncate" "chdir" "nftw" "ftw" "glob" "std.ifstream" "std.ofstream" "std.fstream" "std.filesystem.*" "sqlite3_open" "CreateFile*")
 (#outside? @path))
((call_expression function: (_) @name arguments: (argument_list . (_) . (_) @path)) @found
 (#resolves? @name "openat" "unlinkat" "fstatat" "mkdirat" "faccessat" "rename" "symlink" "link" "std.rename" "std.filesystem.copy*" "std.filesystem.rename" "std.filesystem.create_*link")
 (#outside? @path))
; The compiler reads it, and shows what it read in its complaints.
((preproc_include path: [(string_literal) (system_lib_string)] @path) @found
 (#match? @path "^[\"<]/"))
