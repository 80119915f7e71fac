/*
 * show_lines.c - prints the functions and lines at addresses of a file, in the form of `addr2line -a -f -i`.
 *
 *     show_lines FILE BASE [DEBUG_DIR] <addresses
 *
 * Addresses and BASE, the address of the file's ELF header, are hexadecimal, as linked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "object/find.h"
#include "object/object.h"
#include "object/symbols.h"

static int fail(struct error *err)
{
	fprintf(stderr, "%s\n", err->message);
	error_destroy(err);
	return 1;
}

static void show(const struct debug_line *lines, uint32_t count)
{
	if (!count)
		puts("??\n??:0");
	for (uint32_t i = 0; i < count; i++)
		printf("%s\n%s:%" PRIu32 "\n", lines[i].function ? lines[i].function : "??",
		       lines[i].file ? lines[i].file : "??", lines[i].line);
}

int main(int argc, char **argv)
{
	struct object_wanted wanted = {.path = argc > 2 ? argv[1] : NULL};
	struct object_search search;
	struct symbols *symbols;
	struct object object;
	char text[64];
	struct error *err;

	if (argc < 3)
		return 2;
	object_search_init(&search);
	err = object_read(wanted.path, 0, &object);
	if (!err && argc > 3)
		err = object_search_add_debug_dir(&search, argv[3]);
	if (err)
		return fail(err);
	wanted.build_id = object.build_id;
	object_deinit(&object);
	err = symbols_open(&search, &wanted, &symbols);
	while (!err && fgets(text, sizeof text, stdin)) {
		uint64_t address = strtoull(text, NULL, 16);
		const struct debug_line *lines = NULL;
		uint32_t count;

		err = symbols_lines(symbols, address - strtoull(argv[2], NULL, 16), &lines, &count);
		printf("0x%" PRIx64 "\n", address);
		if (!err)
			show(lines, count);
	}
	if (err)
		return fail(err);
	symbols_close(symbols);
	object_search_deinit(&search);
	return 0;
}
