/*
 * code.h - the program's code and the agent's stubs: where they are and how they are written.
 *
 * Pages stay as they are mapped (read and execute): bytes are written through /proc/self/mem, which makes private copies of them.
 * So no page is ever writable and executable, and /proc/self/maps shows the program as it is without the agent.
 *
 *      |<------------ 2 GB ------------>|
 *      area: stubs | counters | literals       text of images
 *
 * An area serves all images within reach of it. A stub begins at a multiple of 16 with 8 bytes that say what it is:
 *
 *      number (4)  kind (1)  first (1)  done (1)  length / 16 (1)   then its code
 *
 * Stubs go one behind the other, until those that nothing leads to are taken away (code_sweep): then they go where there is room between
 * the others, the first time from the start on, and where there is none any more behind all of them.
 *
 * The caller holds the agent's lock.
 */
#ifndef WM_AGENT_CODE_H
#define WM_AGENT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/code/emit.h"

enum code_stub_kind {
	CODE_STUB_BEFORE = 1, /* in front of a call: number is the call's */
	CODE_STUB_AFTER,      /* behind it: number is the site's */
	CODE_STUB_DISPATCH,   /* in front of a call that is not known, or indirect: the site's */
	CODE_STUB_ENTRY,      /* at a function's entry: number is the function's */
	CODE_STUB_TAIL,       /* in front of a tail call that pushes: the call's */
	CODE_STUB_UNKNOWN, /* in front of direct calls that are not known, one for all: the return address says which */
	CODE_STUB_FOREIGN, /* behind a call in code that is not instrumented: the function's */
};

/* Where the next stub goes, and up to where there is room for it. */
struct code_place {
	uintptr_t at, limit;
};

struct code_area {
	struct code_area *next;
	uintptr_t low, high; /* stubs */
	uintptr_t first;     /* place of a stub */
	uintptr_t used;      /* the end of all of them */
	struct code_place place;
	uintptr_t counters; /* 4 bytes each, behind the stubs, writable */
	uint32_t counter_count, counter_capacity;
	uint8_t *starts; /* a bit for each 16 bytes of stubs: one begins there */
	uint8_t *marks;  /* the same: it is kept. NULL but while that is found out */
	struct emit_places places;
};

struct code_stub {
	uintptr_t start; /* of its code */
	uint32_t number;
	uint32_t len;
	uint8_t kind;
	/*
	 * Offsets in it. BEFORE, TAIL: behind the first and the last of the stores that do its work (emit.h). AFTER: of the program's
	 * instructions, and behind the last store. DISPATCH: of the program's instructions in front of the site, where the stub is
	 * entered, and behind them. ENTRY, FOREIGN: where it is entered, and of the program's instructions.
	 */
	uint8_t first, done;
};

/* What is pushed where that stub leads to instead of a site's number. */
#define CODE_NO_NUMBER UINT32_MAX

/* Where stubs enter the agent, with a number pushed (threads/entry_point.inc). */
struct code_entries {
	const char *grow;     /* the thread has no context stack */
	const char *discover; /* a call that is not known */
	const char *returned; /* behind a call: called */
	const char *entered;  /* foreign code entered a function that is hooked */
};

/* False: code cannot be written here. */
bool code_init(const struct code_entries *leads_to);
/* For the stubs of a program and of its libraries, and as much again for the program. */
bool code_has_address_space(void);
/* After a fork: the file is the parent's memory. */
bool code_reopen(void);
/* Closes what code_init has opened. */
void code_close(void);
/* Writes len bytes of code at `at`, where no thread can be; keeps the page's protection. False: could not be written. */
bool code_write(uintptr_t at, const void *bytes, size_t len);

enum {
	CODE_PATCH_MAX = 64,
	CODE_PATCHES_MAX = 128, /* at a time */
};

/* Bytes that take the place of the program's. */
struct code_patch {
	uintptr_t at;
	uint32_t owner; /* the caller's */
	uint8_t len;
	bool is_written;
	uint8_t bytes[CODE_PATCH_MAX];
};
/* Writes over code that threads may run in, while the others are stopped. False: could not be written, a thread could not be stopped, or
 * one stays inside of it. */
bool code_change(uintptr_t at, const void *bytes, size_t len);
/* The same of several, which are brought into the order of their addresses; of two for the same bytes the later counts. is_written of each
 * says whether it was. */
void code_change_all(struct code_patch *patches, size_t count);
/* The area for text [low, high), made if need be; NULL: there is no room within reach. */
struct code_area *code_area_for(uintptr_t low, uintptr_t high);
/* Moves the place on to where a stub fits whose code has no more bytes than that. Where its code is to be; 0: no room. */
uintptr_t code_next(const struct code_area *area, struct code_place *place, uint32_t most_bytes);
/* Moves the place behind a stub whose code has len bytes. */
void code_pass(struct code_place *place, uint32_t len);
/* Adds a stub with that code, whose place was found by code_next. It is in memory before any of the above is written that may lead there. */
bool code_add_stub(struct code_area *area, const struct code_stub *stub, const uint8_t *code);
/* The same without any of that: tables lead there. */
bool code_write_stubs(void);
/* A stub's code begins there. */
bool code_has_stub(const struct code_area *area, uintptr_t start);
/* It is this one, and with this code. */
bool code_is_stub(const struct code_stub *stub, const struct emit *e);
/* Many stubs were added since the last time: some may be in the place of others. */
bool code_is_to_be_swept(void);
/* A stub is entered there. */
bool code_is_entry(uintptr_t at);
/*
 * Takes stubs away: between begin and sweep, each that is still needed is marked. Nobody is in a stub, or comes back to one. False: no
 * memory, or stubs are not written.
 */
bool code_mark_begin(void);
/* Marks the stub that has the address. True: it is one that was not marked yet. */
bool code_mark(uintptr_t at, struct code_stub *ret);
/* Those that are not marked are taken away; none, if not all were. */
void code_sweep(bool is_all_marked);
/* Of all areas: what stubs take. */
size_t code_stub_bytes(void);
/* Every area has room for stubs of that many calls, written anew. */
bool code_has_room(size_t calls);
/* The stub whose code has pc. */
bool code_find_stub(uintptr_t pc, struct code_stub *ret);
/* What the stubs of the area with pc use; NULL: pc is in none. */
const struct emit_places *code_places_at(uintptr_t pc);
/*
 * Addresses in front of stubs that compare with them (targets of calls, places that hooks are entered from): those of which is_gone says
 * so match nothing from now on. Stubs of a site (kind CODE_STUB_DISPATCH) or function (CODE_STUB_ENTRY) that is gone never run again.
 * Returns how many were looked at.
 */
size_t code_forget(bool (*is_gone)(uintptr_t address), bool (*is_owner_gone)(uint8_t kind, uint32_t number));
/* The address of the counter with that number; 0: there are not so many. Those from counter_count on are free. */
uintptr_t code_counter(const struct code_area *area, uint32_t number);

#endif
