/*
 * test_perf_map.c - names by address from perf's map of a process: the last of entries that have an address, no entry of an earlier process,
 * and of damaged lines nothing.
 */
#include "check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "object/perf_map.h"

static char path[] = "/tmp/test_perf_map.XXXXXX";

static struct perf_map *read_text(const char *text)
{
	struct perf_map *map = NULL;
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
	CHECK_OK(perf_map_open(path, 0, &map));
	return map;
}

static bool is_named(const struct perf_map *map, uint64_t address, const char *name)
{
	const char *found = perf_map_find(map, address);

	return name ? found && strcmp(found, name) == 0 : !found;
}

static void test_entries(void)
{
	struct perf_map *map = read_text("7f0000001000 20 first\n"
					 "7f0000000000 100 LazyCompile:~f a.js:1\n"
					 "no line\n7f0000002000\n7f0000002000 zz x\n7f0000002000 10 \n 10 x\n"
					 "fffffffffffffff0 20 beyond\n"
					 "7f0000001010 8 second\n"
					 "7f0000000000 80 f again\n"
					 "7f0000003000 10 cut off");

	CHECK(map);
	CHECK(is_named(map, 0x7f0000000fff, NULL));
	CHECK(is_named(map, 0x7f0000001000, "first"));
	CHECK(is_named(map, 0x7f000000100f, "first"));
	CHECK(is_named(map, 0x7f0000001010, "second"));
	CHECK(is_named(map, 0x7f0000001018, "first"));
	CHECK(is_named(map, 0x7f0000001020, NULL));
	CHECK(is_named(map, 0x7f000000007f, "f again"));
	CHECK(is_named(map, 0x7f0000000080, "LazyCompile:~f a.js:1"));
	CHECK(is_named(map, 0x7f0000002000, NULL));
	CHECK(is_named(map, 0x7f0000003000, NULL));
	CHECK(is_named(map, UINT64_MAX, NULL));
	perf_map_close(map);
}

static void test_none(void)
{
	struct perf_map *map = read_text("10 10 x\n");

	perf_map_close(map);
	CHECK_OK(perf_map_open(path, time(NULL) + 3600, &map));
	CHECK(!map);
	CHECK_OK(perf_map_open("/tmp/no/such/map", 0, &map));
	CHECK(!map);
	map = read_text("");
	CHECK(!map);
	perf_map_close(NULL);
}

/* Any bytes: what is found is an entry's name. */
static void test_random(unsigned int seed)
{
	static const char some[] = "0123456789abcdefx \n\n  ff";
	char text[600];

	srand(seed);
	for (int round = 0; round < 300; round++) {
		struct perf_map *map;
		size_t len = (size_t)rand() % (sizeof text - 1);

		for (size_t i = 0; i < len; i++)
			text[i] = some[(size_t)rand() % (sizeof some - 1)];
		text[len] = '\0';
		map = read_text(text);
		for (uint64_t address = 0; map && address < 4096; address += 7) {
			const char *name = perf_map_find(map, address);

			CHECK(!name || (*name && strstr(text, name)));
		}
		perf_map_close(map);
	}
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 1;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	printf("seed %u\n", seed);
	test_entries();
	test_none();
	test_random(seed);
	unlink(path);
	return check_status();
}
