int cpu()
{
	int a = 0;
	asm volatile("cpuid" : "=a"(a) : "a"(0) : "ebx", "ecx", "edx"); // FIND: c.assembly
	return a;
}
