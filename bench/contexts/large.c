/*
 * large.c OUT [COUNT] - writes a recording of that many contexts (5,000,000) of 25 frames, each with a record of the heap, for measuring
 * what a report of it takes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/large_file.h"

int main(int argc, char **argv)
{
	struct wmk_builder b;
	FILE *f = argc > 1 ? fopen(argv[1], "w") : NULL;

	if (!f) {
		fputs("a file to write is needed\n", stderr);
		return 2;
	}
	large_contexts(&b, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000000);
	if (fwrite(b.out.bytes, 1, b.out.len_bytes, f) != b.out.len_bytes || fclose(f) != 0) {
		perror(argv[1]);
		return 1;
	}
	buffer_deinit(&b.out);
	return 0;
}
