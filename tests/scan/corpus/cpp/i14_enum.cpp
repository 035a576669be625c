enum class Call { system, popen, fork, execve };
const char *name(Call c)
{
	switch (c) {
	case Call::system: return "system";
	default: return "other";
	}
}
