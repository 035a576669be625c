; id: cpp.pointer
; severity: note
; message: reads memory as another type
; sandbox: A wrong one is memory corruption; the limits and the filter hold what comes of it.
((call_expression function: (template_function name: (identifier) @name)) @found
 (#any-of? @name "reinterpret_cast" "bit_cast"))
((call_expression function: (qualified_identifier) @name) @found
 (#resolves? @name "std.launder" "std.start_lifetime_as*"))
