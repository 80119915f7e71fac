/*
 * code_records.c CASE - records code and captures in it, as an agent would: code.sh has the stacks that readers must show.
 *
 *      epoch 1                       epoch 2
 *
 *      a: 1, root                    a: 1, root
 *        | s1 +0    \                  | s1 +0    \
 *      b: 1          \ s2 +0         b: 2, 1 of   \ s2 +2
 *        | s3 +1      \                | s3 +0 it  \
 *      c: 2, captures at c             c: 3 a back edge's
 *                                      | s4 +0
 *                                    d: 3, captures at d, s5 pushes and calls b
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/client.h"
#include "recorder/code.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"
#include "waymark/runtime.h"

const struct wmrt_client *const wmrt_clients[] = {NULL};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

enum {
	CHAIN = 5000, /* functions and sites: three chunks of sites, four of functions */
};

static uint32_t image, a, b, c, d, s1, s2, s3, s4, s5, at_c, at_d;

static void must(bool is_true, const char *what)
{
	if (is_true)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

static void hit(uint32_t epoch, uint32_t prefix, uint64_t id, uint32_t site, uint64_t value)
{
	wmrt_event((wm_context){.id = id, .prefix = prefix, .site = site, .epoch = epoch}, "hit", value);
}

static void put_epoch_1(void)
{
	image = wmrt_code_image(__ehdr_start, NULL, WMK_IMAGE_BINARY);
	must(image != WMRT_CODE_NO_IMAGE, "an image");
	must(wmrt_code_image(__ehdr_start, NULL, WMK_IMAGE_BINARY) == image, "the same image");
	must(wmrt_code_image(__ehdr_start, "other", WMK_IMAGE_BINARY) == image + 1, "another path");
	must(wmrt_code_image(NULL, "made", WMK_IMAGE_CODE) == image + 2, "made code");
	a = wmrt_code_function(image, 0x100, "a");
	b = wmrt_code_function(image, 0x200, "b");
	c = wmrt_code_function(image, 0x300, "c");
	s1 = wmrt_code_site(a, WMK_SITE_CALL, 4, 0, NULL);
	s2 = wmrt_code_site(a, WMK_SITE_CALL, 9, 0, NULL);
	s3 = wmrt_code_site(b, WMK_SITE_CALL, 4, 0, NULL);
	at_c = wmrt_code_site(c, WMK_SITE_CAPTURE, 2, 0, NULL);
	wmrt_code_epoch_function(1, a, 1, 0, WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	wmrt_code_epoch_function(1, b, 1, 0, 0);
	wmrt_code_epoch_function(1, c, 2, 0, 0);
	wmrt_code_epoch_edge(1, s1, b, WMK_EDGE_ENCODED, 0);
	wmrt_code_epoch_edge(1, s2, c, WMK_EDGE_ENCODED, 0);
	wmrt_code_epoch_edge(1, s3, c, WMK_EDGE_ENCODED, 1);
	must(wmrt_code_epoch_commit(1, 3, 3), "epoch 1");
}

static void hit_epoch_1(uint64_t value)
{
	hit(1, WM_PREFIX_PROCESS, 0, at_c, value);
	hit(1, WM_PREFIX_PROCESS, 1, at_c, value * 2);
}

/* The same encoding for epochs 2 and 3, with another last function. */
static void put_later_epoch(uint32_t epoch, const char *name)
{
	wmrt_code_begin();
	d = wmrt_code_function(image, 0x400, name);
	s4 = wmrt_code_site(c, WMK_SITE_CALL, 8, 0, NULL);
	s5 = wmrt_code_site(d, WMK_SITE_CALL, 7, 0, NULL);
	at_d = wmrt_code_site(d, WMK_SITE_CAPTURE, 2, 0, NULL);
	wmrt_code_epoch_function(epoch, a, 1, 0, WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	wmrt_code_epoch_function(epoch, b, 2, 1, WMK_EPOCH_HAS_DUMMY);
	wmrt_code_epoch_function(epoch, c, 3, 0, 0);
	wmrt_code_epoch_function(epoch, d, 3, 0, 0);
	wmrt_code_epoch_edge(epoch, s1, b, WMK_EDGE_ENCODED, 0);
	wmrt_code_epoch_edge(epoch, s2, c, WMK_EDGE_ENCODED, 2);
	wmrt_code_epoch_edge(epoch, s3, c, WMK_EDGE_ENCODED, 0);
	wmrt_code_epoch_edge(epoch, s4, d, WMK_EDGE_ENCODED, 0);
	wmrt_code_epoch_edge(epoch, s5, b, WMK_EDGE_BACK, 0);
	wmrt_code_end();
}

static void hit_later_epoch(uint32_t epoch, uint64_t value)
{
	uint32_t again = wmrt_intern(WM_PREFIX_PROCESS, epoch, 0, s5, 1);

	hit(epoch, WM_PREFIX_PROCESS, 0, at_d, value);
	hit(epoch, WM_PREFIX_PROCESS, 2, at_d, value * 2);
	hit(epoch, again, 1, at_d, value * 4);
}

static void two(void)
{
	put_epoch_1();
	must(!wmrt_file_header(), "no file before a capture");
	hit_epoch_1(1);
	put_later_epoch(2, "d");
	must(wmrt_code_epoch_commit(2, 4, 5), "epoch 2");
	hit_later_epoch(2, 4);
	hit_epoch_1(32);
}

/* All before the file. */
static void early(void)
{
	put_epoch_1();
	put_later_epoch(2, "d");
	must(wmrt_code_epoch_commit(2, 4, 5), "epoch 2");
	must(!wmrt_file_header(), "no file before a capture");
	hit_epoch_1(1);
	hit_later_epoch(2, 4);
}

static void quiet(void)
{
	put_epoch_1();
	must(!wmrt_file_header(), "no file");
}

/* Functions and calls of epoch 2 are there, its end is not; nor does the process end by itself. */
static void killed(void)
{
	put_epoch_1();
	hit_epoch_1(1);
	put_later_epoch(2, "d");
	hit_later_epoch(2, 4);
	raise(SIGKILL);
}

static void wait_for(int fd)
{
	char byte;

	must(read(fd, &byte, 1) == 1, "a turn");
}

/* Records and captures; first says who is first. In the child an epoch is recorded before it has a file. */
static void go_on(bool is_first, const char *name, uint64_t value, int mine, int other)
{
	if (!is_first)
		wait_for(mine);
	put_later_epoch(3, name);
	must(wmrt_code_epoch_commit(3, 4, 5), "epoch 3");
	if (is_first) {
		must(write(other, "", 1) == 1, "a turn given");
		wait_for(mine);
	}
	hit_later_epoch(3, value);
	hit_epoch_1(value * 8);
	if (!is_first)
		must(write(other, "", 1) == 1, "a turn given");
}

static void fork_with(bool is_child_first)
{
	int to_child[2], to_parent[2], status = 0;
	pid_t child;

	must(pipe(to_child) == 0 && pipe(to_parent) == 0, "pipes");
	child = fork();
	if (child == 0) {
		go_on(is_child_first, "of_child", 100, to_child[0], to_parent[1]);
		exit(0);
	}
	go_on(!is_child_first, "of_parent", 10000, to_parent[0], to_child[1]);
	waitpid(child, &status, 0);
	must(status == 0, "the child");
}

static void fork_child(void)
{
	two();
	fork_with(true);
}

static void fork_parent(void)
{
	two();
	fork_with(false);
}

static void fork_early(void)
{
	put_epoch_1();
	fork_with(true);
}

/* f0 calls f1, which calls f2, ...; a chain with an image's own sites in the middle of the records'. */
static uint32_t put_chain(uint32_t epoch, uint32_t *at_end)
{
	static struct wm1_image compiled;
	static uint32_t functions[CHAIN], sites[CHAIN];
	uint32_t i, taken;
	char name[16];

	compiled = (struct wm1_image){
		.abi_version = WM1_ABI_VERSION, .site_count = 10, .ehdr = __ehdr_start, .meta_key = 1};
	image = wmrt_code_image(NULL, "made", WMK_IMAGE_CODE);
	for (i = 0; i < CHAIN; i++) {
		snprintf(name, sizeof name, "f%u", i);
		functions[i] = wmrt_code_function(image, 16 * i, name);
		sites[i] = wmrt_code_site(functions[i], i < CHAIN - 1 ? WMK_SITE_CALL : WMK_SITE_CAPTURE, 4, 0, NULL);
		if (!sites[i])
			break;
		if (i == 100)
			wm1_register(&compiled);
		must(compiled.site_base == 0 || sites[i] - compiled.site_base >= 10, "numbers of its own");
	}
	taken = i;
	for (i = 0; i < taken; i++) {
		wmrt_code_epoch_function(epoch, functions[i], 1, 0, i == 0 ? WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY : 0);
		if (i > 0)
			wmrt_code_epoch_edge(epoch, sites[i - 1], functions[i], WMK_EDGE_ENCODED, 0);
	}
	*at_end = sites[taken - 1];
	return taken;
}

static void chain(void)
{
	uint32_t at_end;
	int status = 0;

	must(put_chain(1, &at_end) == CHAIN, "room for all");
	must(wmrt_code_epoch_commit(1, CHAIN, CHAIN - 1), "the chain");
	hit(1, WM_PREFIX_PROCESS, 0, at_end, 1);
	if (fork() == 0) {
		hit(1, WM_PREFIX_PROCESS, 0, at_end, 2);
		exit(0);
	}
	wait(&status);
	must(status == 0, "the child");
}

/* With a limit that the chain does not fit. */
static void limit(bool is_file_first)
{
	uint32_t at_end = 0;

	put_epoch_1();
	if (is_file_first)
		hit_epoch_1(1);
	must(put_chain(2, &at_end) < CHAIN, "no room for all");
	must(!wmrt_code_epoch_commit(2, CHAIN, CHAIN - 1), "no commit");
	must(!wmrt_code_function(image, 0, NULL) && !wmrt_code_site(a, WMK_SITE_CALL, 0, 0, NULL), "nothing after");
	must(wmrt_code_image(NULL, "late", WMK_IMAGE_CODE) == WMRT_CODE_NO_IMAGE, "no image after");
	if (!is_file_first)
		hit_epoch_1(1);
	hit(2, WM_PREFIX_PROCESS, 0, at_c, 4);
	must(wmrt_file_header()->dropped_code > 0, "counted");
}

static void limit_late(void)
{
	limit(true);
}

static void limit_early(void)
{
	limit(false);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"two", two},
	{"early", early},
	{"quiet", quiet},
	{"killed", killed},
	{"fork_child", fork_child},
	{"fork_parent", fork_parent},
	{"fork_early", fork_early},
	{"chain", chain},
	{"limit_late", limit_late},
	{"limit_early", limit_early},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0] && argc > 1; i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
