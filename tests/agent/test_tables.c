/*
 * test_tables.c - the agent's own tables: words, memory, maps, options, and areas of stubs.
 *
 * Words and memory are compared with plain arrays over random histories: test_tables [SEED]
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "agent/code/code.h"
#include "native/maps.h"
#include "agent/os/memory.h"
#include "agent/os/options.h"
#include "agent/threads/stop.h"
#include "agent/threads/thread.h"
#include "agent/os/address_map.h"
#include "check.h"

/* What code.c has of the rest of the agent: addresses that stubs lead to, a thread's state, and a thread that stays at held_pc. */
static const char target[1];
static const struct code_entries entries = {.grow = target, .discover = target, .returned = target, .entered = target};
_Thread_local struct agent_thread agent_thread;

static uintptr_t held_pc;

bool agent_is_on = true;

bool stop_others(void)
{
	return true;
}

bool stop_again(unsigned int times)
{
	return times < 3;
}

enum stop_held stop_is_held(uintptr_t at, size_t len)
{
	return held_pc > at && held_pc < at + len ? STOP_HELD : STOP_FREE;
}

static uint64_t state;

static uint32_t roll(uint32_t sides)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % sides;
}

static void test_words(void)
{
	enum {
		KEYS = 5000
	};
	static uint32_t want[KEYS];
	struct address_map words = {0};
	uint32_t value;

	CHECK(!address_map_find(&words, 1, &value));
	memset(want, 0xff, sizeof want);
	for (int i = 0; i < 20000; i++) {
		uint32_t key = roll(KEYS);
		bool is_there = address_map_find(&words, (uint64_t)(key + 1) << 20, &value);

		if (!CHECK_U64(is_there, want[key] != UINT32_MAX) || (is_there && !CHECK_U64(value, want[key])))
			return;
		if (roll(3) == 0) {
			want[key] = roll(1000000);
			CHECK(address_map_set(&words, (uint64_t)(key + 1) << 20, want[key]));
		}
	}
	CHECK(words.table->count * 2 <= words.table->capacity + 2);
	address_map_forget(&words, 1); /* never there */
	CHECK(address_map_set(&words, 1, 7));
	address_map_forget(&words, 1);
	CHECK(!address_map_find(&words, 1, &value));
	CHECK(address_map_set(&words, 1, 8) && address_map_find(&words, 1, &value));
	CHECK_U64(value, 8);
}

static void test_memory(void)
{
	enum {
		BLOCKS = 64
	};
	static uint8_t *blocks[BLOCKS];
	static size_t sizes[BLOCKS];
	uint32_t *items = NULL;
	size_t capacity = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t b = roll(BLOCKS);

		for (size_t at = 0; at < sizes[b]; at += 97)
			if (!CHECK_U64(blocks[b][at], b))
				return;
		agent_free(blocks[b]);
		sizes[b] = roll(20) ? roll(5000) : roll(200000);
		blocks[b] = agent_alloc(sizes[b]);
		if (!CHECK(blocks[b] != NULL) || !CHECK((uintptr_t)blocks[b] % 16 == 0))
			return;
		for (size_t at = 0; at < sizes[b]; at++)
			if (!CHECK_U64(blocks[b][at], 0))
				return;
		memset(blocks[b], (int)b, sizes[b]);
	}
	CHECK(!agent_alloc(SIZE_MAX - 4));
	for (uint32_t count = 1; count < 100000; count += 1 + roll(3000)) {
		size_t was = capacity;

		CHECK(agent_reserve((void **)&items, &capacity, count, sizeof *items) && capacity >= count);
		for (size_t i = was; i < capacity; i++)
			CHECK_U64(items[i], 0);
		for (size_t i = 0; i < was; i++)
			CHECK_U64(items[i], i);
		for (size_t i = 0; i < capacity; i++)
			items[i] = (uint32_t)i;
	}
}

static void test_maps(void)
{
	struct maps_range range;
	struct maps_walk walk;
	uintptr_t last = 0, gap;
	int local = 0, found = 0;
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(pages != MAP_FAILED))
		return;
	munmap(pages + 4096, 4096);
	CHECK(!maps_find((uintptr_t)pages + 4096, &range));
	CHECK(maps_find((uintptr_t)pages, &range) && range.high == (uintptr_t)pages + 4096);
	CHECK(range.is_readable && range.is_writable && !range.is_executable && !range.path[0]);
	CHECK(maps_find((uintptr_t)&local, &range) && strcmp(range.path, "[stack]") == 0);
	CHECK(maps_find((uintptr_t)test_maps, &range) && range.is_executable && !range.is_writable);
	CHECK(strstr(range.path, "test_tables") != NULL);
	CHECK(maps_open(&walk));
	while (maps_next(&walk, &range)) {
		CHECK(range.low >= last && range.high > range.low);
		last = range.high;
		found += (uintptr_t)pages >= range.low && (uintptr_t)pages < range.high;
	}
	maps_close(&walk);
	CHECK(found == 1);
	/* A gap is free, and within reach of both ends. */
	gap = maps_find_gap((uintptr_t)test_maps, (uintptr_t)test_maps + 4096, (size_t)64 << 20, (size_t)1 << 30);
	if (!CHECK(gap != 0))
		return;
	CHECK(mmap((void *)gap, (size_t)64 << 20, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0) == /* NOLINT */
	      (void *)gap); /* NOLINT(performance-no-int-to-ptr) */
	CHECK((uintptr_t)test_maps + 4096 - gap <= (uintptr_t)1 << 30 ||
	      gap + ((uintptr_t)64 << 20) - (uintptr_t)test_maps <= (uintptr_t)1 << 30);
	CHECK(!maps_find_gap((uintptr_t)test_maps, (uintptr_t)test_maps + 4096, (size_t)1 << 40, (size_t)1 << 30));
}

/* Where the stacks of many threads fill what is below the libraries, what is above them is left, up to the first thread's stack. */
static void test_gap_above(void)
{
	uintptr_t low = (uintptr_t)puts & ~(uintptr_t)4095, gap = 0;
	const size_t size = (size_t)256 << 20;

	if ((uintptr_t)&low - low < (uintptr_t)16 << 30)
		return; /* addresses are not random here */
	for (int i = 0; i < 16 && gap < low; i++) {
		gap = maps_find_gap(low, low + 4096, size, (size_t)1 << 30);
		if (!CHECK(gap != 0) ||
		    !CHECK(mmap((void *)gap, size, PROT_NONE, /* NOLINT(performance-no-int-to-ptr) */
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1,
				0) == (void *)gap)) /* NOLINT(performance-no-int-to-ptr) */
			return;
	}
	CHECK(gap > low && gap + size - low <= (uintptr_t)1 << 30);
}

static void test_find_all(void)
{
	enum {
		COUNT = 4,
	};
	static const char data[1];
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t addresses[COUNT] = {(uintptr_t)data, (uintptr_t)pages, (uintptr_t)pages + 4096,
				      (uintptr_t)pages + 3 * 4096 - 1};
	struct maps_place places[COUNT + 2] = {{.address = 1}, {.address = UINTPTR_MAX}};

	if (!CHECK(pages != MAP_FAILED))
		return;
	munmap(pages + 4096, 4096);
	for (int i = 0; i < COUNT; i++) /* by rising address: the program's own is below */
		places[i + 1].address = addresses[i];
	places[COUNT + 1].address = UINTPTR_MAX;
	CHECK(maps_find_all(places, COUNT + 2));
	for (int i = 0; i < COUNT + 2; i++) {
		struct maps_range range = {0};

		if (!maps_find(places[i].address, &range))
			range.low = range.high = 0;
		CHECK_U64(places[i].low, range.low);
		CHECK_U64(places[i].high, range.high);
	}
	CHECK(places[1].low && places[2].low && !places[3].low && places[4].low && !places[COUNT + 1].low);
}

static void test_options(void)
{
	static const struct {
		const char *text;
		uint32_t sample_hz;
		bool is_checked, is_verbose;
	} rows[] = {
		{"", 0, false, false},
		{"check", 0, true, false},
		{"sample=997", 997, false, false},
		{"verbose,check,sample=50", 50, true, true},
		{"checked,samples=3", 0, false, false},
		{"x=check", 0, false, false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		agent_options = (struct agent_options){0};
		setenv("WAYMARK_AGENT", rows[i].text, 1);
		agent_options_read();
		if (!CHECK_U64(agent_options.clients[WM1_AGENT_sample].number, rows[i].sample_hz) ||
		    !CHECK(agent_options.clients[WM1_AGENT_check].is_on == rows[i].is_checked) ||
		    !CHECK(agent_options.is_verbose == rows[i].is_verbose))
			fprintf(stderr, "    \"%s\"\n", rows[i].text);
	}
	agent_options = (struct agent_options){0};
	unsetenv("WAYMARK_AGENT");
	agent_options_read();
	CHECK(!agent_options.clients[WM1_AGENT_check].is_on);
}

/* Stubs of random lengths: each address leads to its stub, those between to none before the first. */
static void test_stubs(void)
{
	enum {
		STUBS = 300
	};
	static struct code_stub stubs[STUBS];
	static uint8_t codes[STUBS][EMIT_MAX_BYTES];
	uintptr_t text = (uintptr_t)test_stubs & ~(uintptr_t)4095;
	struct code_stub found;
	struct code_area *area;
	uintptr_t counter;

	if (!CHECK(code_init(&entries)))
		return;
	CHECK(!code_find_stub(text, &found));
	area = code_area_for(text, text + 4096);
	if (!CHECK(area != NULL))
		return;
	CHECK(code_area_for(text, text + 8192) == area);
	CHECK(!code_find_stub(area->low, &found));
	for (uint32_t i = 0; i < STUBS; i++) {
		struct emit e;

		stubs[i] = (struct code_stub){.start = code_next(area, &area->place, EMIT_MAX_BYTES),
					      .number = i * 7,
					      .kind = CODE_STUB_AFTER,
					      .first = 3,
					      .done = 9};
		emit_init(&e, codes[i], sizeof codes[i], stubs[i].start);
		emit_nops(&e, 1 + roll(EMIT_MAX_BYTES - 2));
		stubs[i].len = e.len;
		code_pass(&area->place, e.len);
		CHECK(code_add_stub(area, &stubs[i], e.bytes));
	}
	/* What leads to stubs is written after them. */
	CHECK(code_write(stubs[0].start, codes[0], 1));
	for (uint32_t i = 0; i < STUBS; i++) {
		CHECK(memcmp((const void *)stubs[i].start, codes[i], stubs[i].len) ==
		      0); /* NOLINT(performance-no-int-to-ptr) */
		for (uintptr_t pc = stubs[i].start; pc < stubs[i].start + stubs[i].len;
		     pc += stubs[i].len - 1 ? stubs[i].len - 1 : 1) {
			if (!CHECK(code_find_stub(pc, &found)))
				return;
			CHECK(found.start == stubs[i].start && found.number == i * 7 && found.kind == CODE_STUB_AFTER);
			CHECK(found.first == 3 && found.done == 9 && found.len >= stubs[i].len);
		}
	}
	CHECK(!code_find_stub(area->used, &found));
	counter = code_counter(area, 0);
	CHECK(counter && code_counter(area, 1) == counter + 4 && !code_counter(area, area->counter_capacity));
	*(uint32_t *)counter += 1; /* NOLINT(performance-no-int-to-ptr) */
	/* Bytes that an interrupted thread is inside of stay; it may be at their start or behind them. */
	held_pc = stubs[0].start + 1;
	CHECK(!code_change(stubs[0].start, "\x90\x90", 2));
	CHECK(code_change(stubs[0].start, "\x90", 1));
	held_pc = stubs[0].start;
	CHECK(code_change(stubs[0].start, "\x90\x90", 2));
	held_pc = 0;
}

/*
 * Stubs come and go: those that were marked stay as they are, and are found, the others are not; their room is used again. Some ask for more
 * room than they take.
 */
static void test_reuse(void)
{
	enum {
		STUBS = 400,
		ROUNDS = 200,
		ADDED = 150,
	};
	static struct code_stub stubs[STUBS];
	static uint8_t codes[STUBS][EMIT_MAX_BYTES];
	uintptr_t text = (uintptr_t)test_stubs & ~(uintptr_t)4095, most = 0;
	struct code_area *area = code_area_for(text, text + 4096);
	struct code_stub found;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t n = 0; n < ADDED; n++) {
			uint32_t i = roll(STUBS), bytes = 1 + roll(100);
			struct emit e;

			if (stubs[i].start)
				continue;
			stubs[i] = (struct code_stub){.start = code_next(area, &area->place,
									 100 + roll(EMIT_MAX_BYTES - 100)),
						      .number = i,
						      .kind = CODE_STUB_DISPATCH,
						      .first = (uint8_t)(8 * (round % 3))};
			memset(codes[i], (int)(i + round), bytes);
			emit_init(&e, codes[i], bytes, stubs[i].start);
			e.len = stubs[i].len = bytes;
			code_pass(&area->place, e.len);
			if (!CHECK(stubs[i].start && code_add_stub(area, &stubs[i], e.bytes)))
				return;
			CHECK(code_is_stub(&stubs[i], &e));
		}
		if (!CHECK(code_mark_begin()))
			return;
		for (uint32_t i = 0; i < STUBS; i++) {
			bool is_kept = roll(3) > 0;

			if (!stubs[i].start)
				continue;
			CHECK(code_has_stub(area, stubs[i].start));
			CHECK(stubs[i].first >= stubs[i].len || code_is_entry(stubs[i].start + stubs[i].first));
			if (is_kept) {
				CHECK(code_mark(stubs[i].start + roll(stubs[i].len), &found));
				CHECK(!code_mark(stubs[i].start, &found));
			}
			if (!is_kept && round % 10)
				stubs[i].start = 0;
		}
		code_sweep(round % 10);
		for (uint32_t i = 0; i < STUBS; i++) {
			if (!stubs[i].start)
				continue;
			CHECK(memcmp((const void *)stubs[i].start, codes[i], stubs[i].len) ==
			      0); /* NOLINT(performance-no-int-to-ptr) */
			if (!CHECK(code_find_stub(stubs[i].start, &found) && found.number == i))
				return;
		}
		most = round == ROUNDS / 4 ? area->used : most;
	}
	CHECK(area->used - area->first < 2 * (most - area->first));
	CHECK(code_mark_begin());
	code_sweep(true);
	/* The one for calls that are not known is always marked. */
	CHECK(code_find_stub(area->places.unknown, &found) && found.kind == CODE_STUB_UNKNOWN);
	CHECK(code_next(area, &area->place, EMIT_MAX_BYTES) == found.start + found.len + 8);
}

/* Of patches of the same page, of others, of the same bytes, and one that a thread is inside of. */
static void test_patches(void)
{
	enum {
		PATCHES = 100,
		PAGES = 16 * 4096,
	};
	static struct code_patch patches[PATCHES];
	static uint8_t want[PAGES];
	uint8_t *pages = mmap(NULL, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(pages != MAP_FAILED))
		return;
	for (unsigned int round = 0; round < 50; round++) {
		held_pc = 0;
		for (uint32_t i = 0; i < PATCHES; i++) {
			struct code_patch *p = &patches[i];
			size_t at = (roll(PAGES - CODE_PATCH_MAX) & ~(size_t)63);

			*p = (struct code_patch){.at = (uintptr_t)pages + at,
						 .owner = i,
						 .len = (uint8_t)(1 + roll(CODE_PATCH_MAX - 1))};
			memset(p->bytes, (int)(round + i + 1), p->len);
			if (round % 2 && i == 7 && p->len > 1)
				held_pc = p->at + 1;
		}
		for (uint32_t i = 0; i < PATCHES; i++)
			if (held_pc <= patches[i].at || held_pc >= patches[i].at + patches[i].len)
				memcpy(want + (patches[i].at - (uintptr_t)pages), patches[i].bytes, patches[i].len);
		code_change_all(patches, PATCHES);
		for (uint32_t i = 0; i < PATCHES; i++)
			CHECK(patches[i].is_written ==
			      (held_pc <= patches[i].at || held_pc >= patches[i].at + patches[i].len));
		if (!CHECK(memcmp(pages, want, PAGES) == 0))
			break;
	}
	held_pc = 0;
	munmap(pages, PAGES);
}

int main(int argc, char **argv)
{
	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261123;
	printf("seed %llu\n", (unsigned long long)state);
	test_words();
	test_memory();
	test_maps();
	test_gap_above();
	test_find_all();
	test_options();
	test_stubs();
	test_reuse();
	test_patches();
	return check_status();
}
