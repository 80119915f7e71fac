/*
 * maps.h - /proc/self/maps, read without memory of its own. Signal-safe.
 */
#ifndef WM_NATIVE_MAPS_H
#define WM_NATIVE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAPS_LOWEST = 0x10000, /* Linux maps nothing below, by default */
};

struct maps_range {
	uintptr_t low, high;
	bool is_readable, is_writable, is_executable;
	uint64_t file_off;
	char path[256]; /* cut to size; empty: none */
};

/* One mapping after the other, by rising address. */
struct maps_walk {
	int fd;
	size_t at, len;
	char buffer[4096];
};
bool maps_open(struct maps_walk *walk);
bool maps_next(struct maps_walk *walk, struct maps_range *ret);
void maps_close(struct maps_walk *walk);

/* The mapping that has the address. */
bool maps_find(uintptr_t address, struct maps_range *ret);
/* Mappings in which stacks of one thread were found. All zero is empty. */
enum {
	MAPS_STACKS = 8,
};
struct maps_stacks {
	struct {
		uintptr_t low, high;
	} ranges[MAPS_STACKS];
	uint32_t next; /* to be written over */
	/* Written by maps_find_stack. */
	bool is_recalled;   /* it was found before */
	bool may_be_larger; /* it was, and ends at another mapping, with which it may be one by now */
	bool is_cut;        /* it was, and has more above what is given */
};
/*
 * The readable mapping that has the stack pointer. One that was found before is not looked up again where all of it from there on is readable
 * still; of a large one only some pages are looked at and given. False: there is none.
 */
bool maps_find_stack(struct maps_stacks *known, uintptr_t sp, uintptr_t *ret_low, uintptr_t *ret_high);
/* Finds the mappings of many addresses, which rise, by one reading. low and high are 0 where there is none. */
struct maps_place {
	uintptr_t address, low, high;
};
bool maps_find_all(struct maps_place *places, size_t count);
/* A place for size bytes, a multiple of the page size, that ends at most `reach` bytes from both ends of [low, high), below it by
 * preference. 0: there is none. */
uintptr_t maps_find_gap(uintptr_t low, uintptr_t high, size_t size, size_t reach);

#endif
