(import_statement (import_require_clause (identifier) @as source: (string) @module))
