/*
 * replay.c - runs a fuzz target without libFuzzer, as an ordinary test: on every file of a directory, and on mutations of it
 * that a fixed seed makes.
 *
 *     replay_NAME DIR [MUTATIONS-PER-FILE]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum {
	INPUT_MAX = 1 << 16,
};

static uint64_t random_state = 20261120;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A few bytes changed, one moved to a number near a limit, or the end cut off. */
static size_t mutate(uint8_t *data, size_t size)
{
	static const uint8_t limits[] = {0, 1, 0x7f, 0x80, 0xff};
	size_t changes = 1 + random_next() % 4;

	if (size == 0)
		return 0;
	while (changes--) {
		size_t at = random_next() % size;

		data[at] = random_next() % 2 ? limits[random_next() % sizeof limits] : (uint8_t)random_next();
	}
	return random_next() % 8 ? size : random_next() % (size + 1);
}

static int replay_file(const char *path, unsigned long mutations)
{
	static uint8_t data[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f) {
		perror(path);
		return 1;
	}
	size = fread(data, 1, sizeof data, f);
	fclose(f);
	for (unsigned long i = 0; i <= mutations; i++) {
		uint8_t *copy = malloc(size ? size : 1);
		size_t len = size;

		if (!copy)
			return 1;
		memcpy(copy, data, size);
		if (i)
			len = mutate(copy, size);
		LLVMFuzzerTestOneInput(copy, len);
		free(copy);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int count, files = 0, failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DIR [MUTATIONS]\n", argv[0]);
		return 2;
	}
	count = scandir(argv[1], &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char path[4096];

		if (entries[i]->d_name[0] != '.') {
			snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
			failed |= replay_file(path, argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
			files++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (!files)
		fprintf(stderr, "%s: no files to replay\n", argv[1]);
	return files && !failed ? 0 : 1;
}
