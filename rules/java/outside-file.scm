; id: java.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((object_creation_expression type: (_) @name arguments: (argument_list . (_) @path)) @found
 (#resolves? @name "java.io.File" "java.io.FileReader" "java.io.FileWriter" "java.io.FileInputStream" "java.io.FileOutputStream" "java.io.RandomAccessFile" "java.io.PrintWriter" "java.util.zip.ZipFile") (#outside? @path))
((method_invocation object: (_) name: (_) arguments: (argument_list . (_) @path)) @found
 (#resolves? @found "java.nio.file.Paths.get()" "java.nio.file.Path.of()") (#outside? @path))
((method_invocation arguments: (argument_list . (_) @path)) @found
 (#resolves? @found "java.lang.System.getProperty()") (#match? @path "user[.]home"))
