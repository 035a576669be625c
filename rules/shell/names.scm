; Where names come from in a shell: a variable is "$NAME".
(variable_assignment name: (variable_name) @as value: (_) @value)
(function_definition name: (word) @defined)
