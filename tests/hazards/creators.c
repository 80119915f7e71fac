/*
 * Threads and what created them: at any depth, nested, from a handler, a callback, a coroutine, foreign code, a constructor, a
 * forked child, by a pointer and a tail call; threads that outlive their creator; threads of the C library's own.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "shadow.h"

int foreign_create(pthread_t *thread, void *(*run)(void *), void *argument);

static wm_context seen; /* by the last `worker` */

NOINLINE static void *worker(void *argument)
{
	THREAD_ROOT();
	ENTER();
	seen = wm_capture();
	CHECK();
	LEAVE();
	return argument;
}

static void join(pthread_t thread)
{
	EXPECT(pthread_join(thread, NULL) == 0);
}

/* At every depth of a recursion. */
NOINLINE static void pool_start(int n)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	if (n)
		pool_start(n - 1);
	LEAVE();
}

/* Equal where the chains are, else not. */
NOINLINE static wm_context one_way(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	LEAVE();
	return seen;
}

NOINLINE static wm_context other_way(void)
{
	ENTER();
	wm_context got = one_way();
	LEAVE();
	return got;
}

NOINLINE static void compare_ways(void)
{
	volatile int twice = 2; /* unrolled, it would be two calls */
	wm_context first[2], second[2];

	ENTER();
	for (int i = 0; i < twice; i++) {
		first[i] = one_way();
		second[i] = other_way();
	}
	EXPECT(memcmp(&first[0], &first[1], sizeof first[0]) == 0);
	EXPECT(memcmp(&second[0], &second[1], sizeof second[0]) == 0);
	EXPECT(first[0].epoch == WM_EPOCH_NONE || memcmp(&first[0], &second[0], sizeof first[0]) != 0);
	LEAVE();
}

/* Each level is a thread that the level before has created. */
NOINLINE static void *odd(void *argument);
NOINLINE static void *even(void *argument)
{
	pthread_t thread;
	int n = *(int *)argument - 1;

	THREAD_ROOT();
	ENTER();
	CHECK();
	if (n > 0) {
		EXPECT(CREATE(pthread_create(&thread, NULL, odd, &n)) == 0);
		join(thread);
	}
	CHECK();
	LEAVE();
	return NULL;
}

NOINLINE static void *odd(void *argument)
{
	pthread_t thread;
	int n = *(int *)argument - 1;

	THREAD_ROOT();
	ENTER();
	if (n > 0) {
		EXPECT(CREATE(pthread_create(&thread, NULL, n % 3 ? even : odd, &n)) == 0);
		join(thread);
	}
	CHECK();
	LEAVE();
	return NULL;
}

NOINLINE static void nested(void)
{
	pthread_t thread;
	int n = 20;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, even, &n)) == 0);
	join(thread);
	LEAVE();
}

NOINLINE static void handler(int signal)
{
	pthread_t thread;

	SIGNAL_ENTER();
	(void)signal;
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	CHECK();
	LEAVE();
}

NOINLINE static int compare(const void *a, const void *b)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void from_callback(void)
{
	int numbers[2] = {2, 1};

	ENTER();
	FOREIGN_VOID("qsort", qsort(numbers, 2, sizeof numbers[0], compare));
	LEAVE();
}

NOINLINE static void from_foreign_code(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(FOREIGN("foreign_create", CREATE(foreign_create(&thread, worker, NULL))) == 0);
	join(thread);
	LEAVE();
}

static int (*volatile create_pointer)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;

NOINLINE static void by_pointer(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(create_pointer(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	LEAVE();
}

NOINLINE static int tail(pthread_t *thread)
{
	ENTER();
	shadow_offer();
	return pthread_create(thread, NULL, worker, NULL);
}

NOINLINE static void by_tail_call(void)
{
	pthread_t thread;
	int rc;

	ENTER();
	rc = tail(&thread);
	shadow_offered(rc == 0);
	LEAVE();
	EXPECT(rc == 0);
	join(thread);
}

static ucontext_t back;

NOINLINE static void body(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	CHECK();
	LEAVE();
}

NOINLINE static void from_coroutine(void)
{
	static ucontext_t coroutine;
	static char stack[65536];

	ENTER();
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof stack;
	coroutine.uc_link = &back;
	makecontext(&coroutine, body, 0);
	shadow_push("[makecontext]");
	swapcontext(&back, &coroutine);
	RESTORE();
	CHECK();
	LEAVE();
}

NOINLINE static void *forking(void *argument)
{
	pthread_t thread;
	int status;
	pid_t pid;

	THREAD_ROOT();
	ENTER();
	CHECK();
	pid = fork();
	if (pid == 0) {
		CHECK();
		EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
		join(thread);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	LEAVE();
	return argument;
}

NOINLINE static void from_forked_child(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, forking, NULL)) == 0);
	join(thread);
	LEAVE();
}

/* A creator that is gone, and whose place has another thread. */
static pthread_t orphan;
static sem_t may_go_on;

NOINLINE static void *orphaned(void *argument)
{
	THREAD_ROOT();
	ENTER();
	while (sem_wait(&may_go_on))
		;
	CHECK();
	pool_start(1);
	LEAVE();
	return argument;
}

NOINLINE static void *short_lived(void *argument)
{
	THREAD_ROOT();
	ENTER();
	EXPECT(CREATE(pthread_create(&orphan, NULL, orphaned, NULL)) == 0);
	LEAVE();
	return argument;
}

NOINLINE static void outlived(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(sem_init(&may_go_on, 0, 0) == 0);
	EXPECT(CREATE(pthread_create(&thread, NULL, short_lived, NULL)) == 0);
	join(thread);
	one_way();
	sem_post(&may_go_on);
	join(orphan);
	LEAVE();
}

/* A thread of the C library's, which says nothing of who asked for it. */
static sem_t notified;

NOINLINE static void notify(union sigval value)
{
	THREAD_ROOT();
	ENTER();
	(void)value;
	CHECK();
	sem_post(&notified);
	LEAVE();
}

NOINLINE static void timers(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
	struct itimerspec soon = {.it_value = {0, 1}};
	timer_t timer;

	ENTER();
	EXPECT(sem_init(&notified, 0, 0) == 0);
	EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	EXPECT(timer_settime(timer, 0, &soon, NULL) == 0);
	while (sem_wait(&notified))
		;
	timer_delete(timer);
	LEAVE();
}

__attribute__((constructor(102))) NOINLINE static void early(void)
{
	pthread_t thread;

	ENTER();
	EXPECT(CREATE(pthread_create(&thread, NULL, worker, NULL)) == 0);
	join(thread);
	LEAVE();
}

int main(void)
{
	ENTER();
	pool_start(5);
	compare_ways();
	nested();
	signal(SIGUSR1, handler);
	FOREIGN_VOID("raise", raise(SIGUSR1));
	from_callback();
	from_foreign_code();
	by_pointer();
	by_tail_call();
	from_coroutine();
	from_forked_child();
	outlived();
	timers();
	CHECK();
	LEAVE();
	return 0;
}
