#include <boost/process.hpp>
namespace bp = boost::process;
int main()
{
	bp::child one("ls"); // FIND: cpp.process
	one.wait();
	auto &run = ::system;
	return run("id"); // FIND: c.process
}
