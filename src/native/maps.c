/* maps.c - reads /proc/self/maps line by line. */
#include "native/maps.h"

#include <fcntl.h>
#include <string.h>

#include "recorder/sys.h"

enum {
	POPULATE_READ = 22,       /* MADV_POPULATE_READ of Linux 5.14: an error where not all can be read */
	RECALLED_BYTES = 1 << 20, /* of a larger one CUT_BYTES are looked at */
	CUT_BYTES = 1 << 16,
	PAGE_BYTES = 4096,
};
/* A stack may grow down to the mapping below it, but hardly by more than this. */
static const uintptr_t STACK_GROWS_BYTES = (uintptr_t)8 << 30;

bool maps_open(struct maps_walk *walk)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return false;
	walk->fd = (int)fd;
	walk->at = walk->len = 0;
	return true;
}

void maps_close(struct maps_walk *walk)
{
	wmrt_sys3(SYS_close, walk->fd, 0, 0);
}

/* The next character, -1 at the end. */
static int next_char(struct maps_walk *walk)
{
	if (walk->at == walk->len) {
		long n = wmrt_sys3(SYS_read, walk->fd, (long)walk->buffer, sizeof walk->buffer);

		if (n <= 0)
			return -1;
		walk->at = 0;
		walk->len = (size_t)n <= sizeof walk->buffer ? (size_t)n : 0;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): the kernel wrote it */
	return (unsigned char)walk->buffer[walk->at++];
}

/* A hexadecimal number; the character behind it goes to *ret_end. */
static uint64_t next_number(struct maps_walk *walk, int *ret_end)
{
	uint64_t value = 0;

	for (;;) {
		int c = next_char(walk);

		if (c >= '0' && c <= '9') {
			value = value << 4 | (uint64_t)(c - '0');
		} else if (c >= 'a' && c <= 'f') {
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		} else {
			*ret_end = c;
			return value;
		}
	}
}

bool maps_next(struct maps_walk *walk, struct maps_range *ret)
{
	size_t len = 0;
	int c;

	memset(ret, 0, offsetof(struct maps_range, path) + 1);
	ret->low = next_number(walk, &c);
	if (c != '-')
		return false;
	ret->high = next_number(walk, &c);
	ret->is_readable = next_char(walk) == 'r';
	ret->is_writable = next_char(walk) == 'w';
	ret->is_executable = next_char(walk) == 'x';
	next_char(walk);
	next_char(walk);
	ret->file_off = next_number(walk, &c);
	while (c != '\n' && c >= 0 && c != '/' && c != '[')
		c = next_char(walk);
	for (; c != '\n' && c >= 0; c = next_char(walk))
		if (len + 1 < sizeof ret->path)
			ret->path[len++] = (char)c;
	ret->path[len] = '\0';
	return true;
}

bool maps_find(uintptr_t address, struct maps_range *ret)
{
	struct maps_walk walk;
	bool is_found = false;

	if (!maps_open(&walk))
		return false;
	while (!is_found && maps_next(&walk, ret))
		is_found = address >= ret->low && address < ret->high;
	maps_close(&walk);
	return is_found;
}

/* Each page of it is touched: only what a walk of a stack may touch anyway. */
static bool is_readable(uintptr_t low, uintptr_t high)
{
	return wmrt_sys3(SYS_madvise, (long)low, (long)(high - low), POPULATE_READ) == 0;
}

bool maps_find_stack(struct maps_stacks *known, uintptr_t sp, uintptr_t *ret_low, uintptr_t *ret_high)
{
	const uintptr_t page = sp & ~(uintptr_t)(PAGE_BYTES - 1);
	struct maps_range range;
	uintptr_t high = 0;
	uint32_t i = 0;

	while (i < MAPS_STACKS && sp - known->ranges[i].low >= known->ranges[i].high - known->ranges[i].low)
		i++;
	known->is_recalled = known->is_cut = known->may_be_larger = false;
	if (i < MAPS_STACKS) {
		high = known->ranges[i].high;
		known->is_cut = high - page > RECALLED_BYTES;
		if (known->is_cut)
			high = page + CUT_BYTES;
		known->is_recalled = is_readable(page, high);
	}
	if (known->is_recalled) {
		known->may_be_larger = !known->is_cut && is_readable(high, high + PAGE_BYTES);
		*ret_low = page;
		*ret_high = high;
		return true;
	}
	known->is_cut = false;
	if (!maps_find(sp, &range) || !range.is_readable)
		return false;
	if (i == MAPS_STACKS)
		i = known->next++ % MAPS_STACKS;
	known->ranges[i].low = range.low;
	known->ranges[i].high = range.high;
	*ret_low = range.low;
	*ret_high = range.high;
	return true;
}

bool maps_find_all(struct maps_place *places, size_t count)
{
	struct maps_walk walk;
	struct maps_range range;
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		places[k].low = places[k].high = 0;
	if (!maps_open(&walk))
		return false;
	while (i < count && maps_next(&walk, &range)) {
		while (i < count && places[i].address < range.low)
			i++;
		for (; i < count && places[i].address < range.high; i++) {
			places[i].low = range.low;
			places[i].high = range.high;
		}
	}
	maps_close(&walk);
	return true;
}

uintptr_t maps_find_gap(uintptr_t low, uintptr_t high, size_t size, size_t reach)
{
	struct maps_walk walk;
	struct maps_range range;
	uintptr_t end = MAPS_LOWEST, best = 0;
	bool is_more = true;

	if (!maps_open(&walk))
		return 0;
	while (is_more) {
		uintptr_t gap_low = end, gap_high;

		is_more = maps_next(&walk, &range);
		gap_high = is_more ? range.low : (uintptr_t)1 << 47;
		if (is_more)
			end = range.high;
		if (strncmp(range.path, "[stack", 6) == 0)
			gap_high -= gap_high < STACK_GROWS_BYTES ? gap_high : STACK_GROWS_BYTES;
		if (gap_high <= gap_low || gap_high - gap_low < size)
			continue;
		if (gap_high <= low) { /* its upper end: the nearest so far */
			if (high - (gap_high - size) <= reach)
				best = gap_high - size;
		} else if (gap_low >= high && !best && gap_low + size - low <= reach) { /* far from a heap that grows */
			best = gap_high - low <= reach ? gap_high - size : low + reach - size;
			best &= ~(uintptr_t)4095;
		}
	}
	maps_close(&walk);
	return best;
}
