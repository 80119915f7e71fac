/*
 * check_random.c - test only: random programs record their own dynamic slices, which are compared with those of src/analyze (check.h), all of it in
 * one process and its children.
 *
 *      check_random [-n CRITERIA] [-o] [-p FILE.wmk] CODE FIRST COUNT
 *
 * The main function of CODE, a program or a file of bitcode, runs the program that has the number it is given: FIRST and COUNT - 1 behind it. Each is
 * analysed as if it were alone. A third of them is stopped somewhere. -o: a part of the functions counts as a shared library's. -p: what ran is what the program's own recording of paths says,
 * which it writes to FILE.wmk.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cli/path_reading.h"
#include "model/slices/profile_ran.h"
#include "object/object.h"
#include "record.h"

enum {
	NODES_MAX = 60000, /* of those that end by themselves */
	SECONDS_MAX = 2,
};

struct options {
	const char *code, *profile;
	uint32_t first, count;
	bool is_outside;
};

static uint32_t limit_of(uint32_t seed)
{
	return seed % 3 ? NODES_MAX : 300 + seed * 7919u % 4000;
}

/* ---- what ran, by paths ---- */

static void run_counted(const struct options *o, uint32_t seed)
{
	pid_t child;

	unlink(o->profile);
	fflush(NULL);
	child = fork();
	if (!child) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		char text[16];

		for (int i = 0; nothing >= 0 && i < 3; i++)
			dup2(nothing, i);
		snprintf(text, sizeof text, "%u", seed);
		setenv("WAYMARK_OUT", o->profile, 1);
		alarm(SECONDS_MAX);
		execl(o->code, o->code, text, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

static void read_ran(const struct options *o, const struct code *code, struct ran *ret)
{
	struct profile_ran_count count;
	struct object_search search;
	struct path_profile p;
	struct object file;

	object_search_init(&search);
	oracle_fail(object_read(o->code, 0, &file));
	oracle_fail(path_profile_init(&p, &search, NULL));
	oracle_fail(path_reading_add(&p, o->profile));
	oracle_fail(path_profile_finish(&p));
	oracle_fail(profile_ran(&p, &file.build_id, code, ret, &count));
	path_profile_deinit(&p);
	object_deinit(&file);
	object_search_deinit(&search);
}

/* ---- programs ---- */

struct bytes {
	void *at;
	size_t len_bytes;
};

static void check_program(struct work *w, const struct options *o, LLVMModuleRef all, uint32_t seed, struct bytes bytes)
{
	struct shadow_recording r;
	struct ran ran = {0};
	char name[24], prefix[16];

	snprintf(name, sizeof name, "seed %u", seed);
	snprintf(prefix, sizeof prefix, "p%u_", seed);
	w->code = (struct code){.module = shadow_extract(all, prefix), .unit_count = 1};
	oracle_fail(code_number_all(&w->code));
	check_begin(w);
	check_take(name, bytes.at, bytes.len_bytes, &r);
	if (o->profile) {
		run_counted(o, seed);
		read_ran(o, &w->code, &ran);
		r.ran = &ran;
	}
	check_recording(w, &r);
	check_leave(w);
	ran_deinit(&ran);
	munmap(bytes.at, bytes.len_bytes);
}

static int check(struct work *w, const struct options *o)
{
	struct code all;
	struct bytes *recorded = calloc(o->count + 1, sizeof *recorded);
	record_main *program;

	if (!recorded)
		oracle_fail(&error_no_memory);
	oracle_open(o->code, &all);
	if (o->is_outside)
		shadow_choose_outside(all.module);
	oracle_fail(code_number_all(&all));
	shadow_number(all.module);
	program = record_compile(all.module);
	for (uint32_t i = 0; i < o->count; i++)
		recorded[i].at = record_run(program, o->first + i, limit_of(o->first + i), &recorded[i].len_bytes);
	for (uint32_t i = 0; i < o->count; i++)
		check_program(w, o, all.module, o->first + i, recorded[i]);
	free(recorded);
	return check_end(w);
}

int main(int argc, char **argv)
{
	struct work w = {.analyses_used = ANALYSES, .most = 6};
	struct options o = {0};
	int option;

	while ((option = getopt(argc, argv, "n:op:")) != -1)
		if (option == 'n')
			w.most = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'o')
			o.is_outside = true;
		else if (option == 'p')
			o.profile = optarg;
		else
			return 2;
	if (argc - optind != 3) {
		fputs("usage: check_random [-n CRITERIA] [-o] [-p FILE.wmk] CODE FIRST COUNT\n", stderr);
		return 2;
	}
	o.code = argv[optind];
	o.first = (uint32_t)strtoul(argv[optind + 1], NULL, 10);
	o.count = (uint32_t)strtoul(argv[optind + 2], NULL, 10);
	return check(&w, &o);
}
