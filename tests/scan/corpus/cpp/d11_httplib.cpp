#include "httplib.h"
int main()
{
	httplib::Client client("https://api.example.org"); // FIND: cpp.network
	auto answer = client.Get("/x");
	return answer->status;
}
