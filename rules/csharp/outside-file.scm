; id: csharp.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((invocation_expression function: (_) @name arguments: (argument_list . (argument (_) @path))) @found
 (#resolves? @name "System.IO.File.*" "System.IO.Directory.*") (#outside? @path))
((object_creation_expression type: (_) @name arguments: (argument_list . (argument (_) @path))) @found
 (#resolves? @name "System.IO.StreamReader" "System.IO.StreamWriter" "System.IO.FileStream" "System.IO.FileInfo" "System.IO.DirectoryInfo" "System.IO.FileSystemWatcher") (#outside? @path))
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Environment.GetFolderPath"))
