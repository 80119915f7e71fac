/*
 * heap_reach.c - a program under the heap client makes blocks with pointers to each other at random, to their beginnings and into them, some of
 * which variables, the stack, thread-local storage and a map of its own lead to; frees some; and finds out by a table of its own which of
 * them can be reached. The recording is compared with that: bytes and blocks of each context that nothing leads to.
 *
 *     heap_reach HEAP.so WAY SEED
 *
 * WAY: exit, leave (_exit), thread (a thread allocates half of them, in an arena, and has ended), running (another thread runs at the end, so
 * nothing is lost for certain), child (a forked one makes its own, with pointers from and to its parent's).
 *
 * The table has the addresses with all bits inverted, and the stack is overwritten behind the work, so that no pointer is left by chance.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#include "profile.h"
#include "push.h"

enum {
	SITES = 12,
	FIRST_SITE = 10,
	BLOCKS = 500,
	FREED = 100,
	POINTERS = 2, /* of a block */
	ROOTS = 12,   /* of each kind */
	SIZE_MAX_BYTES = 700,
	LARGE_BYTES = 300000, /* mapped by malloc itself */
	DEEP_BYTES = 200000,
	STACK_BYTES = 1 << 20,
};

struct block {
	uintptr_t inverted;
	uint64_t size;
	uint32_t site;
	int pointers[POINTERS]; /* numbers of blocks; -1: none */
	int is_own;             /* of the process whose recording is compared */
	int is_freed, is_root, is_reached;
};

/* In a file, since another program reads it. */
struct shadow {
	struct block blocks[BLOCKS];
	uint64_t count[SITES], bytes[SITES]; /* that nothing leads to */
	pid_t pid;
};

static struct shadow *shadow;
static uint64_t random_state;
static void *global_roots[ROOTS];
static _Thread_local void *local_roots[ROOTS];

static struct shadow *map_shadow(void)
{
	char path[512];
	int fd;
	void *ret;

	snprintf(path, sizeof path, "%s/shadow", profile_dir());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct shadow)) != 0)
		exit(3);
	ret = mmap(NULL, sizeof(struct shadow), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return ret;
}

static uint32_t pick(uint32_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % below;
}

/* ---- the program ---- */

static char *address_of(int i)
{
	return (char *)~shadow->blocks[i].inverted; /* NOLINT(performance-no-int-to-ptr) */
}

static void allocate(int from, int to)
{
	for (int i = from; i < to; i++) {
		struct block *b = &shadow->blocks[i];
		void *volatile at;

		b->size = pick(50) ? pick(SIZE_MAX_BYTES) : LARGE_BYTES;
		b->site = pick(SITES);
		b->is_own = 1;
		b->pointers[0] = b->pointers[1] = -1;
		PUSHED(FIRST_SITE + b->site, at = malloc(b->size));
		memset(at, 0, b->size);
		b->inverted = ~(uintptr_t)at;
		at = NULL;
	}
}

/* To any byte of it; half of them to the first. */
static void *pointer_to(int i)
{
	uint64_t size = shadow->blocks[i].size;

	return address_of(i) + (size && pick(2) ? pick((uint32_t)size) : 0);
}

static void connect_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		uint64_t words = shadow->blocks[i].size / sizeof(void *);

		for (uint32_t j = 0; j < POINTERS && j < words && pick(3); j++) {
			/* A word of the first or of the second half. */
			uint64_t word = j * (words / 2) + pick((uint32_t)(words / 2 + words % 2 * j));
			int to = (int)pick(BLOCKS);

			if (words < POINTERS)
				break;
			((void **)(void *)address_of(i))[word] = pointer_to(to);
			shadow->blocks[i].pointers[j] = to;
		}
	}
}

/* What they have stays where they were. */
static void free_some(void)
{
	for (int n = 0; n < FREED; n++) {
		int i = (int)pick(BLOCKS);

		if (shadow->blocks[i].is_freed || shadow->blocks[i].is_root)
			continue;
		free(address_of(i));
		shadow->blocks[i].is_freed = 1;
	}
}

static void point_from(void **roots)
{
	for (int i = 0; i < ROOTS; i++) {
		int to = (int)pick(BLOCKS);

		roots[i] = pointer_to(to);
		shadow->blocks[to].is_root = 1;
	}
}

/* Its own stack is far below: what it leaves there is behind the end of the stack later, or overwritten. */
static __attribute__((noinline)) void deep(void (*work)(void *), void *data)
{
	volatile char space[DEEP_BYTES];

	space[0] = space[DEEP_BYTES - 1] = 0;
	work(data);
	space[0] = 1;
}

static __attribute__((noinline)) void clean_stack(void)
{
	volatile char space[DEEP_BYTES + 4096];

	for (size_t i = 0; i < sizeof space; i++)
		space[i] = 0;
}

struct part {
	int from, to;
};

static void allocate_part(void *data)
{
	const struct part *part = data;

	allocate(part->from, part->to);
}

static void *thread_allocates(void *data)
{
	deep(allocate_part, data);
	return NULL;
}

/* The C library keeps stacks of its own, with old pointers in them, for later threads. */
static int allocate_in_thread(struct part *part)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	if (stack == MAP_FAILED || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, stack, STACK_BYTES) ||
	    pthread_create(&thread, &attributes, thread_allocates, part) || pthread_join(thread, NULL))
		return 0;
	pthread_attr_destroy(&attributes);
	return munmap(stack, STACK_BYTES) == 0;
}

static void *thread_runs(void *data)
{
	(void)data;
	for (;;)
		pause();
	return NULL;
}

static void finish_blocks(void *data)
{
	void **roots = data;

	connect_blocks();
	point_from(global_roots);
	point_from(local_roots);
	point_from(roots);
	point_from(roots + ROOTS);
	free_some();
}

/* The first ROOTS are on the stack, the others in a map. */
static __attribute__((noinline)) void point_from_map(void **stack_roots)
{
	void **map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(map, stack_roots + ROOTS, ROOTS * sizeof *map);
	memset(stack_roots + ROOTS, 0, ROOTS * sizeof *map);
}

static void reach(int i)
{
	struct block *b = &shadow->blocks[i];

	if (b->is_reached || b->is_freed)
		return;
	b->is_reached = 1;
	for (int j = 0; j < POINTERS; j++)
		if (b->pointers[j] >= 0)
			reach(b->pointers[j]);
}

static void find_out(void *data)
{
	(void)data;
	for (int i = 0; i < BLOCKS; i++)
		if (shadow->blocks[i].is_root)
			reach(i);
	for (int i = 0; i < BLOCKS; i++) {
		const struct block *b = &shadow->blocks[i];

		if (b->is_freed || b->is_reached || !b->is_own)
			continue;
		shadow->count[b->site]++;
		shadow->bytes[b->site] += b->size;
	}
}

static int run(const char *way)
{
	void *volatile roots[2 * ROOTS] = {NULL};
	struct part all = {0, BLOCKS}, half = {0, BLOCKS / 2};
	pthread_t thread;

	shadow = map_shadow();
	if (strcmp(way, "thread") == 0) {
		if (!allocate_in_thread(&half))
			return 1;
		all.from = half.to;
	} else if (strcmp(way, "running") == 0) {
		if (pthread_create(&thread, NULL, thread_runs, NULL))
			return 1;
	} else if (strcmp(way, "child") == 0) {
		pid_t pid;
		int status = 1;

		deep(allocate_part, &half);
		for (int i = 0; i < half.to; i++)
			shadow->blocks[i].is_own = 0;
		pid = fork();
		if (pid) {
			waitpid(pid, &status, 0);
			_exit(WEXITSTATUS(status));
		}
		all.from = half.to;
	}
	shadow->pid = getpid();
	deep(allocate_part, &all);
	deep(finish_blocks, (void *)roots);
	point_from_map((void **)roots);
	deep(find_out, NULL);
	clean_stack();
	if (strcmp(way, "leave") == 0)
		_exit(0);
	/* These of the stack are roots as long as this function has not returned. */
	exit(roots[0] == NULL);
}

/* ---- the recording ---- */

static int check(const char *way)
{
	uint64_t count[SITES + 1] = {0}, bytes[SITES + 1] = {0}, found = 0, lost = 0;
	int is_running = strcmp(way, "running") == 0;
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	struct profile p;

	shadow = map_shadow();
	if (!profile_of(shadow->pid, "", &p))
		return 1;
	CHECK_U64(p.file.header.heap_reach, is_running ? WMK_REACH_THREADS : WMK_REACH_TOLD);
	while (wmk_next_heap(&p.file, &walk, &record)) {
		const struct wmk_heap_sum sum = wmk_sum_of_heap(&p.file, &record);
		struct wmk_node node = {0};
		uint32_t site;

		if (record.prefix < WM_PREFIX_FIRST || !CHECK(wmk_find_node(&p.file, record.prefix, &node)))
			continue;
		site = node.site - push_image.site_base - FIRST_SITE;
		if (!CHECK(site < SITES))
			continue;
		count[site] += record.unreached_count;
		bytes[site] += record.unreached_bytes;
		CHECK_U64(sum.lost_count, is_running ? 0 : record.unreached_count);
		CHECK_U64(sum.reachable_count + record.unreached_count, record.count - wmk_heap_freed(&record));
		found += sum.reachable_count;
	}
	for (int site = 0; site < SITES; site++) {
		CHECK_U64(count[site], shadow->count[site]);
		CHECK_U64(bytes[site], shadow->bytes[site]);
		lost += shadow->count[site];
	}
	CHECK(found > 20 && lost > 20);
	profile_close(&p);
	return check_status();
}

int main(int argc, char **argv)
{
	int status = 1;
	pid_t pid;

	if (argc != 4)
		return 2;
	printf("seed %s\n", argv[3]);
	fflush(stdout);
	random_state = strtoull(argv[3], NULL, 10);
	if (getenv("LD_PRELOAD"))
		return run(argv[2]);
	pid = fork();
	if (pid == 0) {
		setenv("LD_PRELOAD", argv[1], 1);
		setenv("WAYMARK_LEAKS", "1", 1);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	CHECK_U64(status, 0);
	return check(argv[2]);
}
