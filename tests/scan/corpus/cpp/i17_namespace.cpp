namespace app {
int connect(int port)
{
	return port;
}
int both()
{
	return connect(1) + connect(2);
}
}
