/*
 * compare.c - test only: dynamic slices of programs that shadow_pass.cpp changed (check.h).
 *
 *      compare write PROGRAM-OR-BITCODE CODE.bc    the code as src/analyze numbers it, for shadow_pass.cpp
 *      compare print CODE.bc RECORDING             the lines of the dynamic slice of what the program did last
 *      compare check CODE.bc [-r] [-m] [-n COUNT] [-f FILE] RECORDING...
 *
 * Criteria are all lines that ran, of FILE if there is one, or COUNT of them over the whole recording. -r: both analyses. -m prints what
 * the slice of the last criterion has by the activations at the end, and the dynamic one has not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llvm-c/BitWriter.h>

#include "check.h"

static int write_code(const char *from, const char *to)
{
	struct code code;

	oracle_open(from, &code);
	if (LLVMWriteBitcodeToFile(code.module, to))
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be written", to));
	code_deinit(&code);
	return 0;
}

static void with_recording(struct work *w, const char *path,
			   void (*use)(struct work *, const struct shadow_recording *))
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct shadow_recording r;
	struct stat s;
	void *bytes;

	if (file < 0 || fstat(file, &s))
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be read", path));
	bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (bytes == MAP_FAILED)
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be read", path));
	check_take(path, bytes, (size_t)s.st_size, &r);
	use(w, &r);
	munmap(bytes, (size_t)s.st_size);
}

static int print(struct work *w, const char *code, const char *recording)
{
	oracle_open(code, &w->code);
	oracle_fail(code_number_all(&w->code));
	with_recording(w, recording, check_print_last);
	return 0;
}

static int check(struct work *w, const char *code, char **recordings)
{
	oracle_open(code, &w->code);
	oracle_fail(code_number_all(&w->code));
	check_begin(w);
	for (; *recordings; recordings++)
		with_recording(w, *recordings, check_recording);
	return check_end(w);
}

int main(int argc, char **argv)
{
	struct work w = {.analyses_used = 1};
	int option;

	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return write_code(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "print") == 0)
		return print(&w, argv[2], argv[3]);
	if (argc < 4 || strcmp(argv[1], "check") != 0) {
		fputs("usage: compare write PROGRAM CODE.bc | print CODE.bc RECORDING | "
		      "check CODE.bc [-r] [-m] [-n COUNT] [-f FILE] RECORDING...\n",
		      stderr);
		return 2;
	}
	optind = 3;
	while ((option = getopt(argc, argv, "+rmn:f:")) != -1)
		if (option == 'r')
			w.analyses_used = ANALYSES;
		else if (option == 'm')
			w.tells_more = true;
		else if (option == 'n')
			w.most = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'f')
			w.file = optarg;
		else
			return 2;
	return check(&w, argv[2], argv + optind);
}
