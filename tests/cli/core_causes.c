/*
 * core_causes.c - crashes, each of another cause, which the first argument names. The lines that have a mark in a comment are those that
 * core_causes.sh looks for.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

/* ---- calls through bad pointers ---- */

typedef int (*step)(int);
struct stage {
	const char *name;
	step begin, end;
};
static int plus(int x)
{
	return x + 1;
}
static char bytes[64] = "no code";
static const char letters[] = "neither";
static struct stage stages[] = {{"first", plus, NULL}, {"second", plus, NULL}};

FAR static int leave(struct stage *stage, int x)
{
	if (x > 1) {
		int r = stage->end(x);

		return r + x;
	}
	return x;
}

FAR static int pass(struct stage *stage, int x)
{
	int y = stage->begin(x);

	return leave(stage, y) + 1;
}

static int call(const void *target)
{
	stages[1].end = (step)(uintptr_t)target;
	return pass(&stages[1], 3) + pass(&stages[0], 1);
}

/* ---- memory ---- */

struct part {
	long kind;
	long *values;
};
struct whole {
	struct part *part;
};

FAR static long member(struct whole *whole, int at)
{
	return whole->part->kind + at;
}

FAR static long element(const long *list, int at)
{
	return list[at];
}

FAR static void overwrite(char *text)
{
	text[0] = 'N';
}

/* One byte at a time, so that loops are vectorized; the page behind the first one is gone. */
struct file {
	const char *bytes;
	size_t size;
};
FAR static long count(const struct file *file, char wanted)
{
	long found = 0;

	for (size_t at = 0; at < file->size; at++)
		if (file->bytes[at] == wanted)
			found++;
	return found;
}

/* The same from a place on that is handed in: it stays where it was when the function was called. */
FAR static long count_from(const char *bytes, size_t at, size_t size, char wanted)
{
	long found = 0;

	for (; at < size; at++)
		if (bytes[at] == wanted)
			found++;
	return found;
}

static long shrunk(const char *path, size_t from)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct file file = {NULL, 3 * 4096};

	if (ftruncate(fd, 3 * 4096))
		return 2;
	file.bytes = mmap(NULL, file.size, PROT_READ, MAP_SHARED, fd, 0);
	if (ftruncate(fd, 4096))
		return 2;
	return from ? count_from(file.bytes, from, file.size, 'x') : count(&file, 'x');
}

static int into_mapping(const char *path, int protection)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *at;

	if (ftruncate(fd, 4096))
		return 2;
	at = mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0);
	overwrite(at);
	return at[1];
}

/* ---- stacks ---- */

FAR static int third(int n, volatile char *from);
FAR static int second(int n, volatile char *from)
{
	volatile char room[64];

	room[n & 63] = *from;
	return third(n + 1, room) + room[1];
}
FAR static int first(int n, volatile char *from)
{
	volatile char room[32];

	room[n & 31] = *from;
	return second(n + 1, room) + room[1];
}
FAR static int third(int n, volatile char *from)
{
	volatile char room[128];

	room[n & 127] = *from;
	return first(n + 1, room) + room[1];
}

static void *deep(void *from)
{
	return (void *)(intptr_t)first(0, from);
}

FAR static int wide(size_t len)
{
	volatile char room[len];

	room[0] = 1;
	return room[len - 1] + room[0];
}

/* ---- values ---- */

struct value {
	unsigned char flags, padding;
	unsigned short offset;
	int size;
	union {
		void *place;
		double number;
	} u;
};
FAR static const char *text_of(struct value value)
{
	assert((value.flags & 15) == 5);
	return value.u.place;
}

FAR static int ratio(int sum, int parts)
{
	return sum / parts;
}

FAR static long quotient(long sum, long parts)
{
	return sum / parts;
}

FAR static int copy(char *to, const char *from)
{
	char room[16];

	for (int i = 0; from[i]; i++)
		room[i] = from[i];
	to[0] = room[3];
	return room[5];
}

/* As handlers do that write a report. gdb stops at the first signal, too, so another one is sent. */
static void once_more(int number)
{
	signal(number, SIG_DFL);
	raise(SIGQUIT);
}

static void *joined(void *data)
{
	pthread_mutex_lock(data);
	return data;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
	volatile int zero = 0;

	if (strcmp(kind, "null") == 0)
		return call(NULL);
	if (strcmp(kind, "small") == 0)
		return call((void *)0x18);
	if (strcmp(kind, "strange") == 0)
		return call((void *)0x4141414141414141);
	if (strcmp(kind, "data") == 0)
		return call(bytes);
	if (strcmp(kind, "letters") == 0)
		return call(letters);
	if (strcmp(kind, "member") == 0)
		return (int)member(&(struct whole){NULL}, zero);
	if (strcmp(kind, "element") == 0)
		return (int)element(NULL, 3);
	if (strcmp(kind, "wild") == 0)
		return (int)element((const long *)0x4141414141414141, zero);
	if (strcmp(kind, "constant") == 0)
		overwrite((char *)(uintptr_t)letters);
	if (strcmp(kind, "mapping") == 0)
		return into_mapping(path, PROT_READ);
	if (strcmp(kind, "closed") == 0)
		return into_mapping(path, PROT_NONE);
	if (strcmp(kind, "shrunk") == 0)
		return (int)shrunk(path, (size_t)zero);
	if (strcmp(kind, "from") == 0)
		return (int)shrunk(path, (size_t)argc + 2);
	if (strcmp(kind, "deep") == 0)
		return (int)(intptr_t)deep(bytes);
	if (strcmp(kind, "thread") == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, deep, bytes);
		return pthread_join(thread, NULL);
	}
	if (strcmp(kind, "wide") == 0)
		return wide((size_t)64 << 20);
	if (strcmp(kind, "zero") == 0)
		return ratio(argc, zero);
	if (strcmp(kind, "most") == 0)
		return (int)quotient(-9223372036854775807 - 1, zero - 1);
	if (strcmp(kind, "assert") == 0)
		return text_of((struct value){6, 0, 0, 3, {malloc(8)}})[0];
	if (strcmp(kind, "abort") == 0)
		abort();
	if (strcmp(kind, "trap") == 0)
		__builtin_trap();
	if (strcmp(kind, "illegal") == 0)
		__asm__ volatile(".byte 0x06");
	if (strcmp(kind, "smashed") == 0)
		return copy(bytes, argv[2]);
	if (strcmp(kind, "twice") == 0) {
		char *p = malloc(24);

		free(p);
		free(p);
	}
	if (strcmp(kind, "alien") == 0)
		free(bytes + 16);
	if (strcmp(kind, "heap") == 0) {
		char *p = malloc(24), *q = malloc(24);

		memset(p + 24, 0, 8); /* the size of the next block: smaller than any */
		p[24] = 0x11;
		free(q);
	}
	if (strcmp(kind, "raise") == 0)
		raise(SIGSEGV);
	if (strcmp(kind, "again") == 0) {
		signal(SIGSEGV, once_more);
		return (int)element(NULL, 3);
	}
	if (strcmp(kind, "killed") == 0) {
		if (!fork())
			_exit(kill(getppid(), SIGQUIT));
		for (;;)
			pause();
	}
	if (strcmp(kind, "locked") == 0) {
		pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

		joined(&lock);
		joined(&lock);
	}
	return 0;
}
