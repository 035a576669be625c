; id: cpp.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((declaration type: (_) @type declarator: (init_declarator value: (argument_list . (_) @path))) @found
 (#resolves? @type "std.ifstream" "std.ofstream" "std.fstream" "std.filesystem.path" "std.filesystem.directory_iterator" "std.filesystem.recursive_directory_iterator")
 (#outside? @path))
((declaration type: (_) @type declarator: (init_declarator value: (initializer_list . (_) @path))) @found
 (#resolves? @type "std.ifstream" "std.ofstream" "std.fstream" "std.filesystem.path" "std.filesystem.directory_iterator" "std.filesystem.recursive_directory_iterator")
 (#outside? @path))
((declaration type: (_) @type declarator: (init_declarator value: (string_literal) @path)) @found
 (#resolves? @type "std.filesystem.path") (#outside? @path))
((call_expression function: (field_expression field: (field_identifier) @member) arguments: (argument_list . (string_literal) @path)) @found
 (#eq? @member "open") (#outside? @path))
