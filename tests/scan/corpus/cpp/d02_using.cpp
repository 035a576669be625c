#include <cstdlib>
using namespace std;
int main() { return system("ls"); } // FIND: c.process
