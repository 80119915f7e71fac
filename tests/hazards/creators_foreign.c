/* creators_foreign.c - creates a thread in code without Waymark. */
#include <pthread.h>

int foreign_create(pthread_t *thread, void *(*run)(void *), void *argument)
{
	return pthread_create(thread, NULL, run, argument);
}
