#include <cstdlib>
int main() { return std::system("id"); } // FIND: c.process
