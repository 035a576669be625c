import java.net.URI;
import java.net.http.*;
class Fetch {
	static String go() throws Exception {
		HttpClient c = HttpClient.newHttpClient(); // FIND: java.network
		HttpRequest r = HttpRequest.newBuilder().uri(URI.create("https://api.example.com/")).build(); // FIND: java.network
		return c.send(r, HttpResponse.BodyHandlers.ofString()).body(); // FIND: java.network
	}
}
