int execution_count, system_state, popen_calls, socket_width;
int evaluate(int connection)
{
	return connection + execution_count + system_state + popen_calls + socket_width;
}
