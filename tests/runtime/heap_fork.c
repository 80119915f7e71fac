/*
 * heap_fork.c - under the heap client: a forked child goes on with a file of its own in which what it inherited
 * counts as such; a child that is killed loses nothing. Prints nothing; heap_fork itself reads the files.
 *
 *     heap_fork HEAP.so     runs itself under the client
 */
#include <signal.h>
#include <sys/wait.h>

#include "profile.h"
#include "push.h"

enum {
	BLOCKS = 2000, /* several chunks of records: each has a context of its own */
	SITE_INHERITED = 5,
	SITE_OWN = 6,
};

static void *blocks[BLOCKS];

static void allocate(void)
{
	int i;

	for (i = 0; i < BLOCKS; i++) {
		wm1_thread_state.id = (uint64_t)i;
		PUSHED(SITE_INHERITED, blocks[i] = malloc(1000 + (size_t)i));
	}
	wm1_thread_state.id = 0;
}

static void child_works(void)
{
	int i;

	for (i = 0; i < BLOCKS; i += 2)
		free(blocks[i]);
	for (i = 0; i < 10; i++) {
		void *volatile leaked;

		PUSHED(SITE_OWN, leaked = malloc(500));
		(void)leaked;
	}
}

/* Sums of the records whose innermost site is that one. */
static struct wmk_heap sum_of(const struct profile *p, uint32_t site)
{
	struct wmk_heap sum = {0}, record;
	struct wmk_walk walk = {0};

	while (wmk_next_heap(&p->file, &walk, &record)) {
		struct wmk_node node = {0};

		if (record.prefix < WM_PREFIX_FIRST || !CHECK(wmk_find_node(&p->file, record.prefix, &node)) ||
		    node.site != push_image.site_base + site)
			continue;
		sum.count += record.count;
		sum.bytes += record.bytes;
		sum.lives[0] += wmk_heap_freed(&record);
		sum.freed_bytes += record.freed_bytes;
		sum.at_peak_bytes += wmk_heap_at_peak(&p->file, &record);
		sum.inherited_count += record.inherited_count;
		sum.inherited_bytes += record.inherited_bytes;
		sum.inherited_freed_count += record.inherited_freed_count;
		sum.inherited_freed_bytes += record.inherited_freed_bytes;
	}
	return sum;
}

static void check_live(const struct profile *p)
{
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	uint64_t live = 0;

	while (wmk_next_heap(&p->file, &walk, &record))
		live += record.bytes - record.freed_bytes + record.inherited_bytes - record.inherited_freed_bytes;
	CHECK_U64(p->file.header.heap_live_bytes, live);
	CHECK(p->file.header.heap_peak_bytes >= live);
}

static void check_child(pid_t pid)
{
	uint64_t all = BLOCKS * 1000 + (uint64_t)BLOCKS * (BLOCKS - 1) / 2;
	struct profile p;
	struct wmk_heap sum;

	if (!profile_of(pid, "", &p))
		return;
	sum = sum_of(&p, SITE_INHERITED);
	CHECK_U64(sum.count, 0);
	CHECK_U64(sum.bytes, 0);
	CHECK_U64(sum.lives[0], 0);
	CHECK_U64(sum.freed_bytes, 0);
	CHECK_U64(sum.inherited_count, BLOCKS);
	CHECK_U64(sum.inherited_bytes, all);
	CHECK_U64(sum.at_peak_bytes, all);
	CHECK_U64(sum.inherited_freed_count, BLOCKS / 2);
	CHECK_U64(sum.inherited_freed_bytes, (all - BLOCKS / 2) / 2);
	sum = sum_of(&p, SITE_OWN);
	CHECK_U64(sum.count, 10);
	CHECK_U64(sum.bytes, 5000);
	CHECK_U64(sum.lives[0], 0);
	CHECK_U64(sum.inherited_count, 0);
	check_live(&p);
	CHECK(p.file.header.flags & WMK_FLAG_HEAP);
	CHECK(p.file.header.parent_run != 0);
	profile_close(&p);
}

static int work(void)
{
	struct profile p;
	int fds[2], i;
	char byte = 0;
	pid_t pid;

	allocate();
	if (pipe(fds) != 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		child_works();
		if (write(fds[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	/* the parent changes its own records meanwhile */
	for (i = 1; i < BLOCKS; i += 2)
		free(blocks[i]);
	CHECK_U64(read(fds[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_child(pid);
	if (profile_of(getpid(), "", &p)) {
		CHECK_U64(sum_of(&p, SITE_INHERITED).lives[0], BLOCKS / 2);
		CHECK_U64(sum_of(&p, SITE_OWN).count, 0);
		profile_close(&p);
	}
	return check_status();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return work();
	setenv("LD_PRELOAD", argv[1], 1);
	execl("/proc/self/exe", argv[0], (char *)NULL);
	return 127;
}
