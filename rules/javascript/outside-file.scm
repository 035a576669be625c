; id: javascript.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((call_expression function: (_) @name arguments: (arguments . (_) @path)) @found
 (#resolves? @name "fs.*" "fs/promises.*" "fs-extra.*" "Deno.readTextFile*" "Deno.writeTextFile*" "Deno.readFile*" "Deno.remove*" "Bun.file") (#outside? @path))
((call_expression function: (_) @name) @found
 (#resolves? @name "os.homedir" "process.chdir" "fs.chownSync" "fs.chown"))
