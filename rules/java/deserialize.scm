; id: java.deserialize
; severity: warning
; message: reads a format that can run code
; sandbox: Whoever wrote the bytes decides which classes are made, and what their making runs.
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "java.io.ObjectInputStream" "java.beans.XMLDecoder" "com.thoughtworks.xstream.XStream" "com.caucho.hessian.io.*" "org.yaml.snakeyaml.Yaml"))
((method_invocation) @found
 (#resolves? @found "java.io.ObjectInputStream.readObject()" "java.beans.XMLDecoder.readObject()"))
((method_invocation name: (identifier) @name) @found
 (#any-of? @name "enableDefaultTyping" "activateDefaultTyping"))
