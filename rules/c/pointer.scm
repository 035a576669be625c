; id: c.pointer
; severity: note
; message: a pointer out of a number, or a copy without a bound
; sandbox: A wrong one is memory corruption; the limits and the filter hold what comes of it.
((cast_expression type: (type_descriptor declarator: (abstract_pointer_declarator)) value: (number_literal) @number) @found
 (#not-match? @number "^0[uUlL]*$"))
((call_expression function: (_) @name) @found
 (#resolves? @name "gets" "strcpy" "strcat" "sprintf" "vsprintf" "stpcpy" "std.strcpy" "std.strcat" "std.sprintf" "alloca"))
