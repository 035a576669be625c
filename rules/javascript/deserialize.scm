; id: javascript.deserialize
; severity: warning
; message: reads a format that can run code
; sandbox: Whoever wrote the text decides what runs: it is code, wherever it comes from.
((call_expression function: (_) @name) @found
 (#resolves? @name "node-serialize.unserialize" "serialize-to-js.deserialize" "funcster.deepDeserialize" "js-yaml.loadUnsafe" "cryo.parse" "v8.deserialize"))
