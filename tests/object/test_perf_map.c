/*
 * test_perf_map.c - names by address from perf's map of a process, and from a jitdump: the last of entries that have an address, no entry of an earlier process,
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

/* ---- jitdump ---- */

static size_t put(uint8_t *to, size_t at, const void *bytes, size_t len)
{
	memcpy(to + at, bytes, len);
	return at + len;
}

static size_t put_words(uint8_t *to, size_t at, const uint32_t *words, size_t count)
{
	return put(to, at, words, count * sizeof *words);
}

/* Code is three bytes long in the file. */
static size_t put_load(uint8_t *to, size_t at, uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	const uint64_t numbers[] = {address, address, size, index};
	const uint32_t prefix[] = {0, (uint32_t)(16 + 8 + sizeof numbers + strlen(name) + 1 + 3), 1, 0, 7, 7};

	at = put_words(to, at, prefix, 6);
	at = put(to, at, numbers, sizeof numbers);
	at = put(to, at, name, strlen(name) + 1);
	return put(to, at, "\x90\x90\xc3", 3);
}

static size_t put_move(uint8_t *to, size_t at, uint64_t from, uint64_t address, uint64_t size, uint64_t index)
{
	const uint64_t numbers[] = {from, from, address, size, index};
	const uint32_t prefix[] = {1, 16 + 8 + sizeof numbers, 1, 0, 7, 7};

	return put(to, put_words(to, at, prefix, 6), numbers, sizeof numbers);
}

static void test_jitdump(void)
{
	const uint32_t header[] = {0x4a695444, 1, 44, 62, 0, 7, 0, 0, 0, 0, 12345}, other[] = {2, 20, 0, 0, 99},
		       cut[] = {0, 4096, 0, 0};
	uint8_t bytes[1024];
	size_t at = put_words(bytes, 0, header, 11); /* longer than it is today */
	struct perf_map *map = NULL;

	at = put_load(bytes, at, 0x7000, 0x100, 1, "JS:~f a.js:1:2");
	at = put_words(bytes, at, other, 5);
	at = put_load(bytes, at, 0x8000, 0x10, 2, "Builtin:Add");
	at = put_load(bytes, at, 0x7040, 0x10, 3, "JS:*g");
	at = put_move(bytes, at, 0x8000, 0x9000, 0x10, 2);
	at = put_move(bytes, at, 0x8000, 0xa000, 0x10, 77);
	at = put_words(bytes, at, cut, 4);
	CHECK_OK(perf_map_parse(bytes, at, &map));
	CHECK(is_named(map, 0x7000, "JS:~f a.js:1:2"));
	CHECK(is_named(map, 0x7045, "JS:*g"));
	CHECK(is_named(map, 0x7050, "JS:~f a.js:1:2"));
	CHECK(is_named(map, 0x7100, NULL));
	CHECK(is_named(map, 0x800f, "Builtin:Add"));
	CHECK(is_named(map, 0x900f, "Builtin:Add"));
	CHECK(is_named(map, 0xa000, NULL));
	perf_map_close(map);
	for (size_t len = 0; len < at; len++) { /* cut anywhere */
		CHECK_OK(perf_map_parse(bytes, len, &map));
		perf_map_find(map, 0x7045);
		perf_map_close(map);
	}
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
	test_jitdump();
	test_random(seed);
	unlink(path);
	return check_status();
}
