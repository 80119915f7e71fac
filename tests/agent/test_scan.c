/*
 * test_scan.c - the analysis of whole files against what objdump lists of them.
 *
 * In functions that are understood, each call is a site and each site of a call is one, and no direct branch of the file leads
 * behind the first byte of what would be replaced. Prints shares. test_scan [-v] [-n] FILE...; -n: without objdump.
 */
#include "agent/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t failures;

static void check_target(const struct image *image, const struct regions *regions, uint64_t address, uint64_t target)
{
	const struct scan_range *text = &image->text;

	if (target < text->low || target >= text->high || !(*regions_at(regions, image, target) & REGION_INSIDE))
		return;
	if (failures++ < 20)
		fprintf(stderr, "%#lx: a branch leads to %#lx, inside a region\n", address, target);
}

static bool is_prefix(const char *word)
{
	static const char *const prefixes[] = {"notrack", "bnd", "data16", "rex.W", "rex",
					       "cs",      "ds",  "addr32", "rep",   "repz"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strcmp(word, prefixes[i]))
			return true;
	return false;
}

/* One line of objdump -d: "  addr:\tmnemonic operands". Returns whether it is a call in an understood function. */
static bool check_line(const struct image *image, const struct regions *regions, const char *line)
{
	const struct scan_range *text = &image->text;
	char mnemonic[16], operand[64] = "";
	uint64_t address, slot;
	bool is_call, is_ours;
	uint8_t m;

	if (sscanf(line, " %lx:\t%15s %63s", &address, mnemonic, operand) < 2 || address < text->low ||
	    address >= text->high)
		return false;
	line = strstr(line, mnemonic);
	while (is_prefix(mnemonic)) {
		line += strlen(mnemonic) + strspn(line + strlen(mnemonic), " ");
		if (sscanf(line, "%15s %63s", mnemonic, operand) < 1)
			break;
	}
	is_call = !strncmp(mnemonic, "call", 4);
	if (is_call && strstr(line, "@plt>") && !strchr(operand, '*') &&
	    !scan_is_plt(&image->scan, strtoul(operand, NULL, 16), &slot) && failures++ < 20)
		fprintf(stderr, "%#lx: calls a PLT entry that is not recognised\n", address);
	if ((is_call || *mnemonic == 'j' || !strncmp(mnemonic, "loop", 4)) && operand[0] != '*')
		check_target(image, regions, address, strtoul(operand, NULL, 16));
	m = *regions_at(regions, image, address);
	is_ours = (m & REGION_CALL) != 0;
	if (!(m & REGION_UNDERSTOOD) || is_call == is_ours)
		return is_call && is_ours;
	if (failures++ < 20)
		fprintf(stderr, "%#lx: objdump says %s, the analysis %s\n", address, mnemonic,
			is_ours ? "a call" : "none");
	return false;
}

static void compare(const char *path, const struct image *image, const struct regions *regions)
{
	char command[512], line[512];
	size_t calls = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn -w '%s'", path);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe))
		calls += check_line(image, regions, line);
	if (!pipe || pclose(pipe)) {
		fprintf(stderr, "%s: objdump failed\n", path);
		failures++;
	}
	if (calls != regions->counts.calls + regions->counts.indirect_calls) {
		fprintf(stderr, "%s: %zu calls by objdump, %zu found\n", path, calls,
			regions->counts.calls + regions->counts.indirect_calls);
		failures++;
	}
}

/* An allocator that has so many blocks. */
static bool use_one(size_t *left)
{
	if (!*left)
		return false;
	--*left;
	return true;
}

static void *alloc_some(void *state, size_t size_bytes)
{
	return use_one(state) ? malloc(size_bytes) : NULL;
}

static void *resize_some(void *state, void *block, __attribute__((unused)) size_t old_bytes, size_t new_bytes)
{
	return use_one(state) ? realloc(block, new_bytes) : NULL;
}

static void free_some(__attribute__((unused)) void *state, void *block)
{
	free(block);
}

/* With too little memory the analysis says so, and keeps none. */
static void check_short_memory(const struct image *image)
{
	size_t short_count = 0;

	for (size_t i = 0; i < image->range_count && i < 300; i++) {
		for (size_t blocks = 0; blocks < 8; blocks++) {
			size_t left = blocks;
			const struct allocator allocator = {alloc_some, resize_some, free_some, &left};
			struct scan_function f;
			enum scan_result result = scan_function(&image->scan, image->ranges[i].low, &allocator, &f);

			short_count += result == SCAN_NO_MEMORY;
			if (result == SCAN_OK)
				scan_function_release(&f, &allocator);
		}
	}
	if (short_count || image->range_count == 0)
		return;
	fprintf(stderr, "no function is short of memory\n");
	failures++;
}

int main(int argc, char **argv)
{
	bool is_verbose = false, is_compared = true;

	for (int i = 1; i < argc; i++) {
		struct image image;
		struct regions regions;
		clock_t from = clock();

		if (argv[i][0] == '-') {
			is_verbose |= argv[i][1] == 'v';
			is_compared &= argv[i][1] != 'n';
			continue;
		}
		if (!image_load(argv[i], &image))
			return 1;
		if (!regions_find(&image, is_verbose, &regions))
			failures++;
		regions_print(argv[i], &regions.counts);
		printf("    %.2f s\n", (double)(clock() - from) / CLOCKS_PER_SEC);
		check_short_memory(&image);
		if (is_compared)
			compare(argv[i], &image, &regions);
		regions_free(&regions);
		image_unload(&image);
	}
	return failures != 0;
}
