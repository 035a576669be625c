; id: java.network
; severity: warning
; message: uses the network
; sandbox: There is none without --allow; what it needs is a rule for each host.
; hosts: yes
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "java.net.Socket" "java.net.ServerSocket" "java.net.DatagramSocket" "java.net.MulticastSocket" "java.net.URL" "okhttp3.OkHttpClient" "okhttp3.Request.Builder" "org.apache.http.client.methods.*"))
((method_invocation) @found
 (#resolves? @found "java.net.http.HttpClient.newHttpClient()" "java.net.http.HttpClient.newBuilder()" "java.net.http.HttpClient.send*()" "java.net.URL.openConnection()" "java.net.URL.openStream()" "java.net.URI.create().toURL().*()" "java.net.InetAddress.getByName()" "java.net.InetAddress.getAllByName()" "java.nio.channels.SocketChannel.open()" "java.nio.channels.ServerSocketChannel.open()" "java.net.http.HttpRequest.newBuilder()" "javax.net.ssl.SSLSocketFactory.getDefault()" "org.apache.http.impl.client.HttpClients.*()" "org.jsoup.Jsoup.connect()"))
