; id: cpp.network
; severity: warning
; message: uses the network through a library
; sandbox: There is none without --allow; what it needs is a rule for each host.
; hosts: yes
((declaration type: (_) @type) @found
 (#resolves? @type "httplib.Client" "httplib.SSLClient" "boost.asio.ip.tcp.socket" "boost.asio.ip.udp.socket" "boost.asio.ip.tcp.resolver" "boost.asio.ip.tcp.acceptor" "asio.ip.tcp.socket" "asio.ip.tcp.resolver" "asio.ip.tcp.acceptor" "Poco.Net.*" "QNetworkAccessManager" "QTcpSocket" "sf.TcpSocket"))
