; id: csharp.deserialize
; severity: warning
; message: reads a format that can run code
; sandbox: Whoever wrote the bytes decides which types are made, and what their making runs.
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "System.Runtime.Serialization.Formatters.Binary.BinaryFormatter" "System.Runtime.Serialization.NetDataContractSerializer" "System.Runtime.Serialization.Formatters.Soap.SoapFormatter" "System.Web.UI.LosFormatter" "System.Web.UI.ObjectStateFormatter" "System.Web.Script.Serialization.JavaScriptSerializer"))
((assignment_expression left: (_) @left right: (_) @right) @found
 (#match? @left "TypeNameHandling$") (#not-match? @right "TypeNameHandling[.]None"))
