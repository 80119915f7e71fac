/*
 * plan_entry.h - decides what stands at entries of functions, at the loader's function for debuggers, and where foreign code makes calls
 * or is returned to.
 *
 * Pure, as plan.h.
 */
#ifndef WM_AGENT_PLAN_ENTRY_H
#define WM_AGENT_PLAN_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/code/stub.h"

enum {
	PLAN_LOADER_BYTES = STUB_BRANCH_BYTES,
};

/* Bytes of the program that give way to a branch. */
struct plan_bytes {
	uintptr_t at;
	uint32_t len;
	const uint8_t *original;
	uint32_t function;            /* that they are of */
	const struct code_area *area; /* NULL: there is no room for stubs */
};

/* Return addresses in foreign code that an entry is entered with. */
struct plan_callers {
	const uintptr_t *addresses;
	uint32_t count;
	uint8_t left; /* bits: behind these nothing can be done, so the id stays that of foreign code */
};

/* A branch to one stub. */
struct plan_branch {
	struct stub_plan stubs;
	struct stub_one room;
	uint8_t region[CODE_PATCH_MAX]; /* in place of the bytes */
	uintptr_t enter;                /* where it leads to */
	uintptr_t behind; /* in the stub: goes on as if the bytes were the program's own; 0: there is no such place */
};

/* False: there is no room, or the bytes cannot be moved. restart: the id that the function begins with. */
bool plan_entry(const struct plan_bytes *in, uint64_t restart, const struct plan_callers *callers,
		struct plan_branch *ret);
/* Behind a call of foreign code: puts the id of foreign code back. */
bool plan_foreign_return(const struct plan_bytes *in, struct plan_branch *ret);
/* The same in a direct call of foreign code, of `target`. */
bool plan_foreign_call(const struct plan_bytes *in, uintptr_t target, struct plan_branch *ret);
/* An entry that leads to `to`, which can go on in the function. */
bool plan_detour(const struct plan_bytes *in, uintptr_t to, struct plan_branch *ret);
/*
 * The loader's function for debuggers leads to `to`, which returns for it. The bytes are PLAN_LOADER_BYTES. False, too: the function is not
 * empty, or others may lie within these bytes.
 */
bool plan_loader(const struct plan_bytes *in, uintptr_t to, struct plan_branch *ret);
/* A jump over the bytes, nops behind it. */
bool plan_jump(const struct plan_bytes *in, uintptr_t to, uint8_t region[CODE_PATCH_MAX]);

#endif
