/*
 * test_stacks.c - mappings of stacks that are found again (maps_find_stack): without /proc/self/maps as long as all of them is readable, and never
 * with a page that is not.
 */
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "native/maps.h"

enum {
	PAGE = 4096,
	PAGES = 8,
};

static uintptr_t low, high;

/* Pages that nothing else is mapped beside, nor beside the page behind them. */
static void map(void)
{
	char *at = mmap(NULL, (PAGES + 3) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	at += PAGE;
	CHECK(mprotect(at, PAGES * PAGE, PROT_READ | PROT_WRITE) == 0);
	low = (uintptr_t)at;
	high = low + PAGES * PAGE;
}

/* Looks for the stack of that stack pointer. Is it found with that end, and without /proc/self/maps? */
static bool finds(struct maps_stacks *known, uintptr_t sp, uintptr_t end, bool is_recalled)
{
	uintptr_t found_low = 0, found_high = 0;

	return maps_find_stack(known, sp, &found_low, &found_high) && found_low <= sp && found_high == end &&
	       known->is_recalled == is_recalled;
}

static void finds_again(void)
{
	struct maps_stacks known = {0};

	map();
	CHECK(finds(&known, low + PAGE + 8, high, false));
	CHECK(finds(&known, low + PAGE + 16, high, true));
	CHECK(finds(&known, low + 8, high, true));
	CHECK(finds(&known, high - 8, high, true));
	CHECK(!known.may_be_larger);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	CHECK(mprotect((void *)high, PAGE, PROT_READ | PROT_WRITE) == 0);
	CHECK(finds(&known, low + 8, high, true) && known.may_be_larger);
	known = (struct maps_stacks){0};
	CHECK(finds(&known, low + 8, high + PAGE, false) && !known.may_be_larger);
}

static void knows_several(void)
{
	uintptr_t others[MAPS_STACKS];
	struct maps_stacks known = {0};

	for (int i = 0; i < MAPS_STACKS; i++) {
		map();
		others[i] = low;
		CHECK(finds(&known, low, high, false));
	}
	for (int i = 0; i < MAPS_STACKS; i++)
		CHECK(finds(&known, others[i], others[i] + PAGES * PAGE, true));
	map();
	CHECK(finds(&known, low, high, false));
	CHECK(finds(&known, others[0], others[0] + PAGES * PAGE, false));
}

static void leaves_out_what_goes(void)
{
	struct maps_stacks known = {0};
	uintptr_t found_low, found_high;

	map();
	CHECK(finds(&known, low, high, false));
	CHECK(munmap((void *)(high - PAGE), PAGE) == 0); /* NOLINT(performance-no-int-to-ptr) */
	CHECK(finds(&known, low, high - PAGE, false));
	CHECK(finds(&known, low, high - PAGE, true));
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	CHECK(mprotect((void *)(low + 4 * PAGE), PAGE, PROT_NONE) == 0);
	CHECK(finds(&known, low, low + 4 * PAGE, false));
	CHECK(munmap((void *)low, PAGES * PAGE) == 0); /* NOLINT(performance-no-int-to-ptr) */
	CHECK(!maps_find_stack(&known, low, &found_low, &found_high));
}

/* Of a stack of many megabytes a walk gets what it is likely to need, and no look touches all its pages. */
static void cuts_large_ones(void)
{
	enum {
		LARGE = 64 << 20,
		CUT = 1 << 16
	};
	struct maps_stacks known = {0};
	char *at = mmap(NULL, LARGE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t sp = (uintptr_t)at + PAGE + 8, end = (uintptr_t)at + PAGE + LARGE;

	CHECK(at != MAP_FAILED);
	CHECK(mprotect(at + PAGE, LARGE, PROT_READ | PROT_WRITE) == 0);
	CHECK(finds(&known, sp, end, false) && !known.is_cut);
	CHECK(finds(&known, sp, sp - 8 + CUT, true) && known.is_cut && !known.may_be_larger);
	CHECK(finds(&known, sp + CUT, sp - 8 + 2 * CUT, true) && known.is_cut);
	CHECK(finds(&known, end - CUT, end, true) && !known.is_cut);
	CHECK(mprotect(at + 2 * PAGE, PAGE, PROT_NONE) == 0);
	CHECK(finds(&known, sp, sp - 8 + PAGE, false) && !known.is_cut);
	CHECK(munmap(at, LARGE + 2 * PAGE) == 0);
}

int main(void)
{
	cuts_large_ones();
	finds_again();
	knows_several();
	leaves_out_what_goes();
	return check_status();
}
