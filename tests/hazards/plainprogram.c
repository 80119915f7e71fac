/*
 * Instrumented libraries (libraries_one.c is not used here) in a program that plain clang compiles: the libraries find
 * each other's runtime, and contexts start at the first instrumented function.
 */
#include <pthread.h>
#include <stdlib.h>

typedef int function(int);
int embedded_first(function *f, int n);
int embedded_second(int n);
void embedded_thread_root(void);

static int plain_callback(int n)
{
	return n > 0 ? embedded_second(n - 1) + 1 : 0;
}

static void *thread(void *arg)
{
	embedded_thread_root();
	embedded_second(2);
	embedded_first(plain_callback, 3);
	return arg;
}

int main(void)
{
	pthread_t id;
	embedded_first(plain_callback, 2);
	embedded_first(embedded_second, 2);
	embedded_second(3);
	if (pthread_create(&id, NULL, thread, NULL) || pthread_join(id, NULL))
		return 1;
	return 0;
}
