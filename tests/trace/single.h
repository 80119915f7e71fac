/* single.h - included ahead of random programs that must do the same in each run: threads are calls, forks fail. */
#include <pthread.h>
#include <unistd.h>

#define pthread_create(thread, attributes, function, argument) ((void)(thread), (void)(function)(argument), 0)
#define pthread_join(thread, result) 0
#define FORK getppid
