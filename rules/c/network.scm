; id: c.network
; severity: warning
; message: uses the network
; sandbox: There is none without --allow; what it needs is a rule for each host.
; hosts: yes
((call_expression function: (_) @name) @found
 (#resolves? @name "socket" "connect" "bind" "listen" "accept" "accept4" "sendto" "recvfrom" "getaddrinfo" "gethostbyname" "gethostbyname2" "inet_pton" "inet_addr" "res_query" "curl_easy_init" "curl_easy_setopt" "curl_easy_perform" "URLDownloadToFile*" "InternetOpen*" "WSAStartup" "boost.asio.*" "httplib.Client" "cpr.Get" "cpr.Post" "SSL_connect" "BIO_new_connect"))
