#include <pthread.h>
static void *work(void *arg)
{
	return arg;
}
int main(void)
{
	pthread_t t;
	return pthread_create(&t, 0, work, 0);
}
