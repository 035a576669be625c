; id: csharp.network
; severity: warning
; message: uses the network
; sandbox: There is none without --allow; what it needs is a rule for each host.
; hosts: yes
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "System.Net.Http.HttpClient" "System.Net.WebClient" "System.Net.Sockets.*" "System.Net.WebSockets.ClientWebSocket" "System.Net.HttpListener" "System.Net.Mail.SmtpClient" "System.Net.NetworkInformation.Ping"))
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Net.Http.HttpClient.*" "System.Net.WebClient.*" "System.Net.WebRequest.Create*" "System.Net.HttpWebRequest.Create*" "System.Net.Dns.*" "System.Net.Sockets.TcpClient.Connect*" "System.Net.Sockets.Socket.Connect*"))
