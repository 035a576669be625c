; id: javascript.network
; severity: warning
; message: uses the network
; sandbox: There is none without --allow; what it needs is a rule for each host.
; hosts: yes
((call_expression function: (_) @name) @found
 (#resolves? @name "fetch" "globalThis.fetch" "window.fetch" "http.get" "http.request" "http.createServer" "https.get" "https.request" "https.createServer" "http2.connect" "net.connect" "net.createConnection" "net.createServer" "net.Socket{}.connect" "XMLHttpRequest{}.open" "tls.connect" "dgram.createSocket" "dns.lookup" "dns.resolve*" "dns.promises.*" "axios" "axios.*" "got" "got.*" "node-fetch" "undici.*" "request" "request.get" "request.post" "superagent.*" "needle" "needle.*" "ws.connect" "navigator.sendBeacon" "Deno.connect" "Deno.listen" "Bun.serve" "Bun.connect"))
((new_expression constructor: (_) @name) @found
 (#resolves? @name "WebSocket" "XMLHttpRequest" "EventSource" "ws" "ws.WebSocket" "net.Socket" "RTCPeerConnection"))
