/*
 * threads.c MODE FLAG - programs with threads that `waymark attach` comes into: each says "ready" where it is to be found, works until the
 * file FLAG is there, and prints what it has seen. Nothing that it prints depends on how long that took.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum {
	WORKERS = 4,
	NUMBERS = 40,
	MOST_NESTED = 3000,
	FREED_BYTES = 1 << 24,
	ROOM_BYTES = 96 << 10,
};

static const char *flag;
static atomic_bool is_over;
static atomic_long failures;
static _Thread_local volatile long sink;

static void *wait_for_flag(void *unused)
{
	const struct timespec pause = {0, 5000000};

	(void)unused;
	while (access(flag, F_OK) != 0)
		nanosleep(&pause, NULL);
	is_over = true;
	return NULL;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void expect(bool is_so, const char *what)
{
	if (is_so)
		return;
	printf("%s: errno %d\n", what, errno);
	failures++;
}

static pthread_t begin(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	expect(pthread_create(&thread, NULL, run, argument) == 0, "pthread_create");
	return thread;
}

/* ---- work ---- */

static NOINLINE long leaf(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += (i * n) ^ (sum >> 3);
	sink += sum;
	return sum & 7;
}

static NOINLINE long recurse(long n)
{
	return n == 0 ? leaf(30) : recurse(n - 1) + leaf(n);
}

static int compare(const void *a, const void *b)
{
	leaf(3);
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorts(void)
{
	int numbers[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = i * 37 % 41;
	qsort(numbers, NUMBERS, sizeof *numbers, compare);
	for (int i = 1; i < NUMBERS; i++)
		if (numbers[i - 1] > numbers[i])
			failures++;
}

static NOINLINE void allocates(void)
{
	char *all[16];

	for (size_t i = 0; i < 16; i++) {
		all[i] = malloc(16 << i % 9);
		all[i][0] = (char)i;
	}
	for (size_t i = 0; i < 16; i++) {
		failures += all[i][0] != (char)i;
		free(all[i]);
	}
}

static NOINLINE void work(long n)
{
	failures += recurse(5 + n % 3) != recurse(5 + n % 3);
	sorts();
	allocates();
}

static void *worker(void *argument)
{
	for (long n = (long)argument; !is_over; n++)
		work(n);
	return NULL;
}

/* Beside a thread that is always busy: waits between its rounds, as all that is attached to would wait for a processor. */
static void *paced_worker(void *argument)
{
	for (long n = (long)argument; !is_over; n++) {
		work(n);
		if (n % 16 == 0)
			usleep(1000);
	}
	return NULL;
}

/* ---- modes ---- */

/* Threads in all kinds of waits beside those that work; the main thread works, too. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2];

static void *waits_on_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	while (!is_over)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *waits_on_semaphore(void *unused)
{
	expect(sem_wait(&semaphore) == 0, "sem_wait");
	return unused;
}

static void *waits_in_read(void *unused)
{
	char c;

	expect(read(ends[0], &c, 1) == 1, "read");
	return unused;
}

static void *waits_in_poll(void *unused)
{
	struct pollfd fd = {.fd = ends[0], .events = POLLPRI};

	while (!is_over)
		expect(poll(&fd, 1, 20) == 0 || errno == EINTR, "poll");
	return unused;
}

/* Without a limit of time nobody may see that it was interrupted. */
static void *waits_in_epoll(void *unused)
{
	struct epoll_event event = {.events = EPOLLIN}, got;
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
	expect(epoll_wait(fd, &got, 1, -1) == 1, "epoll_wait");
	close(fd);
	return unused;
}

static int waits(void)
{
	void *(*const runs[])(void *) = {waits_on_condition, waits_on_semaphore, waits_in_epoll, waits_in_poll};
	pthread_t threads[sizeof runs / sizeof *runs], reader, watcher;
	char c[2] = {1, 2};

	expect(pipe(ends) == 0 && sem_init(&semaphore, 0, 0) == 0, "pipe");
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		threads[i] = begin(runs[i], NULL);
	reader = begin(waits_in_read, NULL);
	watcher = begin(wait_for_flag, NULL);
	ready();
	worker((void *)1);
	pthread_mutex_lock(&mutex);
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	sem_post(&semaphore);
	expect(write(ends[1], c, 2) == 2, "write");
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		pthread_join(threads[i], NULL);
	pthread_join(reader, NULL);
	pthread_join(watcher, NULL);
	puts("waited");
	return 3;
}

/*
 * Threads that spin behind tail calls from before the agent came, of a function without calls and of the C library. Another one makes the
 * same calls while it is there: only by these does the agent find out about them.
 */
static atomic_int spinning;

static NOINLINE long spin(long is_long)
{
	spinning += (int)is_long;
	while (is_long && !is_over)
		sink++;
	return is_long;
}

static int spin_in_library(const void *a, const void *b, void *is_long)
{
	spinning += is_long != NULL;
	while (is_long && !is_over)
		sink++;
	return *(const int *)a - *(const int *)b;
}

static NOINLINE long nest(long depth, long is_long)
{
	long ret;

	if (depth == 0)
		return spin(is_long);
	ret = nest(depth - 1, is_long);
	sink++;
	return ret;
}

static NOINLINE long sort_and_spin(long is_long)
{
	sorts();
	return spin(is_long);
}

static NOINLINE void sort_in_library(int *numbers, void *is_long)
{
	sink++;
	qsort_r(numbers, 2, sizeof *numbers, spin_in_library, is_long);
}

static void *spins_nested(void *is_long)
{
	failures += nest(3, is_long != NULL) != (is_long != NULL);
	return NULL;
}

static void *spins_sorted(void *is_long)
{
	failures += sort_and_spin(is_long != NULL) != (is_long != NULL);
	return NULL;
}

static void *spins_in_library(void *is_long)
{
	int numbers[2] = {2, 1};

	sort_in_library(numbers, is_long);
	failures += numbers[0] != 1;
	return NULL;
}

static void *(*const spinners[])(void *) = {spins_nested, spins_sorted, spins_in_library};

static void *shows_the_way(void *unused)
{
	while (!is_over) {
		spins_nested(NULL);
		spins_sorted(NULL);
		spins_in_library(NULL);
		usleep(500);
	}
	return unused;
}

static int spins(void)
{
	enum {
		COUNT = sizeof spinners / sizeof *spinners,
	};
	pthread_t threads[COUNT], other = begin(shows_the_way, NULL);

	for (size_t i = 0; i < COUNT; i++)
		threads[i] = begin(spinners[i], &spinning);
	while (spinning < COUNT)
		usleep(1000);
	ready();
	wait_for_flag(NULL);
	for (size_t i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	pthread_join(other, NULL);
	puts("spun");
	return 11;
}

static int workers(void)
{
	pthread_t threads[WORKERS];

	for (long i = 0; i < WORKERS; i++)
		threads[i] = begin(i == 0 ? worker : paced_worker, (void *)i);
	ready();
	wait_for_flag(NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	puts("worked");
	return 4;
}

/* The same, and a signal comes to each of them now and then, whose handler takes much of the stack. */
static void takes_room(int sig)
{
	volatile char room[ROOM_BYTES];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = (char)sig;
}

static int signalled(void)
{
	struct sigaction action = {.sa_handler = takes_room, .sa_flags = SA_RESTART};

	sigaction(SIGUSR2, &action, NULL);
	return workers();
}

/* Threads begin and end all the time, some of them by pthread_exit with a cleanup. */
static void clean(void *argument)
{
	leaf((long)argument);
}

static void *lives_shortly(void *argument)
{
	pthread_cleanup_push(clean, argument);
	for (long i = 0; i < 300; i++)
		work(i);
	if ((long)argument % 2)
		pthread_exit(argument);
	pthread_cleanup_pop(1);
	return argument;
}

static void *makes_threads(void *argument)
{
	for (long n = (long)argument; !is_over; n++) {
		pthread_t thread = begin(lives_shortly, (void *)n);
		void *result = NULL;

		leaf(200);
		expect(pthread_join(thread, &result) == 0 && result == (void *)n, "pthread_join");
	}
	return NULL;
}

static int churn(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		threads[i] = begin(makes_threads, (void *)i);
	ready();
	wait_for_flag(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts("churned");
	return 5;
}

/* Cleanups upon cleanups, begun before the agent came, while it was there and after it has left; at the end all are called. */
static atomic_long begun, cleaned;

static void counts(void *argument)
{
	leaf((long)argument);
	cleaned++;
}

static NOINLINE void nests(long depth)
{
	pthread_cleanup_push(counts, (void *)depth);
	begun++;
	for (long i = 0; i < 200; i++)
		work(i);
	pthread_testcancel();
	while (depth == MOST_NESTED)
		usleep(1000);
	nests(depth + 1);
	pthread_cleanup_pop(1);
}

static void *nester(void *unused)
{
	nests(1);
	return unused;
}

static int cancels(void)
{
	pthread_t thread = begin(nester, NULL), other = begin(paced_worker, (void *)1);
	void *result = NULL;

	ready();
	wait_for_flag(NULL);
	pthread_cancel(thread);
	expect(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "pthread_join");
	pthread_join(other, NULL);
	expect(begun == cleaned, "cleanups");
	puts("cancelled");
	return 9;
}

/* A thread in a handler, for long, beside one that works. */
static atomic_long handled;

static NOINLINE void handler(int sig)
{
	(void)sig;
	/* What stubs of calls do there has no context until it returns. */
	while (!is_over) {
		sorts();
		leaf(20000);
	}
	handled++;
}

static NOINLINE void *gets_signal(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

static int handlers(void)
{
	struct sigaction action = {.sa_handler = handler};
	pthread_t thread, other;

	sigaction(SIGUSR1, &action, NULL);
	thread = begin(gets_signal, NULL);
	other = begin(paced_worker, (void *)2);
	ready();
	wait_for_flag(NULL);
	pthread_join(thread, NULL);
	pthread_join(other, NULL);
	expect(handled == 1, "handled");
	puts("handled");
	return 6;
}

/* The loader and the allocator are at work again and again. */
static void *loads(void *unused)
{
	while (!is_over) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		expect(library && dlsym(library, "cos"), "dlopen");
		dlclose(library);
		/* A library that runs before the loader has listed it is not known. */
		for (long i = 0; i < 100; i++)
			work(i);
	}
	return unused;
}

static int loaders(void)
{
	pthread_t threads[2] = {begin(loads, NULL), begin(paced_worker, (void *)1)};

	ready();
	wait_for_flag(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts("loaded");
	return 7;
}

/* The first thread is inside of free most of the time, with the lock of the allocator that a library is loaded with. */
static int frees(void)
{
	pthread_t watcher;

	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	mallopt(M_TRIM_THRESHOLD, 0);
	watcher = begin(wait_for_flag, NULL);
	ready();
	for (long n = 0; !is_over; n++) {
		char *all = malloc(FREED_BYTES);

		for (size_t i = 0; i < FREED_BYTES; i += 4096)
			all[i] = (char)n;
		failures += all[FREED_BYTES / 2] != (char)n;
		free(all);
	}
	pthread_join(watcher, NULL);
	puts("freed");
	return 10;
}

/* Has the loader's lock until the end. */
static int stays_in(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	ready();
	wait_for_flag(NULL);
	return 1;
}

static int holds(void)
{
	pthread_t thread = begin(worker, (void *)1);

	dl_iterate_phdr(stays_in, NULL);
	pthread_join(thread, NULL);
	puts("held");
	return 8;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {{"waits", waits},     {"workers", workers},    {"churn", churn}, {"handlers", handlers},
		     {"loaders", loaders}, {"cancels", cancels},    {"holds", holds}, {"frees", frees},
		     {"spins", spins},     {"signalled", signalled}};

	flag = argc == 3 ? argv[2] : "";
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		int status;

		if (strcmp(modes[i].name, argv[1]) != 0)
			continue;
		status = modes[i].run();
		printf("%ld failures\n", (long)failures);
		return status;
	}
	return 1;
}
