long call(long number)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory"); // FIND: c.assembly
	return result;
}
