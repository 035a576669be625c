// std::system("ls"), popen(...) and dlopen(...) stand here in a comment only
/* execve("/bin/sh") */
int main() { return 0; }
