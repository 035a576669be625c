__attribute__((noreturn)) void fail(void);
__attribute__((format(printf, 1, 2))) void say(const char *f, ...);
struct __attribute__((packed)) row {
	char a;
	int b;
};
