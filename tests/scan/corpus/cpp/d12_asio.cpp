#include <boost/asio.hpp>
using boost::asio::ip::tcp;
int main()
{
	boost::asio::io_context io;
	tcp::socket s(io); // FIND: cpp.network
	return 0;
}
