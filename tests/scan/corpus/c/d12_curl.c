#include <curl/curl.h>
int main(void)
{
	CURL *c = curl_easy_init(); // FIND: c.network
	curl_easy_setopt(c, CURLOPT_URL, "https://files.example.org/a"); // FIND: c.network
	return curl_easy_perform(c); // FIND: c.network
}
