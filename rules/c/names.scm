; Where names come from in C.
(init_declarator declarator: (identifier) @as value: (_) @value)
(init_declarator declarator: (pointer_declarator declarator: (identifier) @as) value: (_) @value)
(init_declarator declarator: (array_declarator declarator: (identifier) @as) value: (_) @value)
(init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @as))) value: (_) @value)
(assignment_expression left: (identifier) @as right: (_) @value)
(preproc_def name: (identifier) @as value: (preproc_arg) @value)
; What stands in an #if may not be there.
(translation_unit (function_definition declarator: (function_declarator declarator: (identifier) @defined)))
(translation_unit (function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @defined))))
; What a macro pastes together.
(preproc_function_def name: (identifier) @macro parameters: (_) @parameters value: (preproc_arg) @body)
(preproc_def name: (identifier) @macro value: (preproc_arg) @body)
