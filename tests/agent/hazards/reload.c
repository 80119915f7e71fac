/*
 * reload.c - libraries that are opened, called, closed and opened again at the same addresses, where other code was before.
 * hazards.sh: libraries 1 2 3 4
 *
 * 1 and 2 are of one size, so that the kernel puts one where the other was; 3 and 4 ask for the same address. The program gives itself to
 * what it calls: callbacks, tail calls, destructors and handlers that run in code which is gone later.
 * hazards.sh: again epochs,wall
 */
#ifdef LIBRARY
#define PROBE_IN_LIBRARY
#endif
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "probe.h"

struct host {
	int (*back)(int);
	int (*close)(const struct host *);
	void *handle;
	int destroyed;
};

#ifdef LIBRARY
/* ---- a library: the same names in each, other code at the same places ---- */

static struct host *host;

#if LIBRARY % 2
__attribute__((noinline)) static int only_odd(int n)
{
	PROBE();
	return n * 3 + host->back(n);
}
#define INNER only_odd
#else
__attribute__((noinline)) static int deeper(int n)
{
	PROBE();
	return n ? deeper(n - 1) + 1 : host->back(2);
}

__attribute__((noinline)) static int only_even(int n)
{
	int sum = deeper(n & 3);

	PROBE();
	return sum + host->back(n) * 2;
}
#define INNER only_even
#endif

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	PROBE();
	return *(const int *)a - *(const int *)b + 0 * host->back(LIBRARY);
}

int run(struct host *h, int n)
{
	int values[] = {4, LIBRARY, 7, 1};

	host = h;
	PROBE();
	qsort(values, 4, sizeof *values, compare);
	PROBE();
	return INNER(n) + values[0] * 10 + INNER(n + 1);
}

int close_by_tail(struct host *h)
{
	PROBE();
	h->back(LIBRARY);
	return h->close(h);
}

/* A reference is left. */
int close_and_return(struct host *h)
{
	int closed = h->close(h);

	PROBE();
	return closed + INNER(3);
}

void handle(int sig)
{
	PROBE();
	host->back(sig + LIBRARY);
}

void never_ends(struct host *h, ucontext_t *here, ucontext_t *back)
{
	PROBE();
	h->back(1);
	swapcontext(here, back);
	abort();
}

__attribute__((destructor)) static void end(void)
{
	PROBE();
	if (host)
		host->destroyed += host->back(LIBRARY);
}

#else
/* ---- the program ---- */

typedef int (*run_fn)(struct host *, int);
typedef int (*close_fn)(struct host *);
typedef void (*handle_fn)(int);
typedef void (*endless_fn)(struct host *, ucontext_t *, ucontext_t *);

static const char *program;
static unsigned int again; /* a library was where another had been */
static void *last_run;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int back(int n)
{
	int got = leaf(n);

	PROBE();
	return got * 2;
}

static void *open_library(int number, int flags)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof path, "%s.%d.so", program, number);
	handle = dlopen(path, RTLD_NOW | flags);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

static void *find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (!found)
		abort();
	return found;
}

__attribute__((noinline)) static int call(run_fn f, struct host *h, int n)
{
	int got = f(h, n);

	PROBE();
	return got;
}

__attribute__((noinline)) static int use(struct host *h, void *handle, int n)
{
	void *f = find(handle, "run");
	int sum;

	again += f == last_run;
	last_run = f;
	sum = call((run_fn)f, h, n);
	PROBE();
	return sum + call((run_fn)f, h, n + 1);
}

__attribute__((noinline)) static int close_library(const struct host *h)
{
	int failed = dlclose(h->handle);

	PROBE();
	return leaf(failed);
}

/* The library that called it is gone from the stack, and then unloaded; another takes its place meanwhile. */
__attribute__((noinline)) static int close_and_use(const struct host *h)
{
	struct host other = *h;
	int sum = dlclose(h->handle);

	PROBE();
	other.handle = open_library(2, 0);
	sum += use(&other, other.handle, 5);
	sum += close_library(&other);
	PROBE();
	return sum;
}

__attribute__((noinline)) static int tails(struct host *h, int number, int (*closer)(const struct host *))
{
	h->handle = open_library(number, 0);
	h->close = closer;
	use(h, h->handle, number);
	number = ((close_fn)find(h->handle, "close_by_tail"))(h);
	PROBE();
	return number;
}

__attribute__((noinline)) static int references(struct host *h, int number)
{
	int sum;

	h->handle = open_library(number, 0);
	h->close = close_library;
	if (open_library(number, 0) != h->handle)
		abort();
	sum = use(h, h->handle, number);
	sum += ((close_fn)find(h->handle, "close_and_return"))(h);
	sum += use(h, h->handle, number + 1);
	PROBE();
	return sum + close_library(h);
}

__attribute__((noinline)) static int signals(struct host *h, int number)
{
	int sum;

	h->handle = open_library(number, 0);
	sum = use(h, h->handle, 3);
	signal(SIGUSR1, (handle_fn)find(h->handle, "handle"));
	raise(SIGUSR1);
	PROBE();
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_IGN);
	return sum + close_library(h);
}

/* A stack that is never returned to has addresses in the library. */
__attribute__((noinline)) static int endless(struct host *h, int number)
{
	static char stacks[8][65536];
	static unsigned int used;
	static ucontext_t here, inside;
	int sum;

	h->handle = open_library(number, 0);
	sum = use(h, h->handle, 4);
	getcontext(&inside);
	inside.uc_stack.ss_sp = stacks[used % 8];
	inside.uc_stack.ss_size = sizeof stacks[0];
	used++;
	makecontext(&inside, (void (*)(void))find(h->handle, "never_ends"), 3, h, &inside, &here);
	swapcontext(&here, &inside);
	PROBE();
	return sum + close_library(h);
}

/* Two pages for code; false: something else has come to lie there. */
static int map_code(char *pages)
{
	return mmap(pages, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		    -1, 0) == pages;
}

__attribute__((noinline)) static void call_made(void *f, struct host *h, int want)
{
	if (call((run_fn)f, h, 1) != want)
		abort();
	PROBE();
}

/* Code that is made where a library's function was: lea number(%rsi), %eax; ret; another jumps to back. */
__attribute__((noinline)) static int made(struct host *h, int number)
{
	static const unsigned char add[] = {0x8d, 0x46, 0x07, 0xc3};
	unsigned char jump[] = {0x89, 0xf7, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
	int (*to)(int) = back;
	char *page;
	void *f;
	int sum;

	h->handle = open_library(number, 0);
	f = find(h->handle, "run");
	sum = use(h, h->handle, 6);
	sum += close_library(h);
	page = (char *)((unsigned long)f & ~4095UL);
	if (!map_code(page))
		return sum;
	memcpy(f, add, sizeof add);
	call_made(f, h, 8);
	munmap(page, 8192);
	if (!map_code(page))
		return sum;
	memcpy(jump + 4, &to, sizeof to);
	memcpy(f, jump, sizeof jump);
	call_made(f, h, 4);
	munmap(page, 8192);
	return sum;
}

static int cycle(struct host *h, int round)
{
	int number = 1 + round % 4, sum;

	h->close = close_library;
	h->handle = open_library(number, 0);
	sum = use(h, h->handle, round);
	PROBE();
	return sum + close_library(h);
}

int main(int argc, char **argv)
{
	static struct host h;
	int sum = 0;
	void *kept;

	h.back = back;
	program = argv[argc - 1];
	for (int i = 0; i < 24; i++) {
		sum += cycle(&h, i / 3);
		sum += tails(&h, 1 + i % 4, close_library);
		sum += tails(&h, 1, close_and_use);
		sum += references(&h, 1 + i % 4);
		sum += signals(&h, 1 + i % 4);
		sum += endless(&h, 1 + i % 2);
		sum += made(&h, 1 + i % 4);
		sum += made(&h, 3);
		PROBE();
	}
	if (again < 24)
		fprintf(stderr, "only %u times a library was where the last one had been\n", again);
	kept = h.handle = open_library(2, RTLD_NODELETE);
	sum += use(&h, kept, 1);
	sum += close_library(&h);
	sum += cycle(&h, 0);
	sum += call((run_fn)find(open_library(2, 0), "run"), &h, 2);
	printf("%d %d\n", sum, h.destroyed);
	return again < 24;
}
#endif
