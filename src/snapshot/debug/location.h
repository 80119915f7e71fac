/*
 * location.h - where a variable is, by the DWARF expressions of its debug information. Private to src/snapshot.
 *
 *      DW_AT_location --address--> expression --stack machine--> memory, or bytes of registers, constants and pieces
 *
 * A value is not known if an expression needs what the stopped program does not have: registers that callees do not keep, vector registers,
 * thread-local data of shared libraries. Values at the function's entry are those that the debug information of the call has. Expressions are untrusted: steps and sizes are limited.
 */
#ifndef WM_SNAPSHOT_LOCATION_H
#define WM_SNAPSHOT_LOCATION_H

#include <elfutils/libdw.h>

#include "snapshot/source/source.h"
#include "snapshot/debug/values.h"

enum {
	LOCATION_BYTES_MAX = 256, /* of what is not in memory */
	LOCATION_RBP = 6,         /* DWARF numbers */
	LOCATION_RSP = 7,
};

enum location_kind {
	LOCATION_UNKNOWN = 0,
	LOCATION_OPTIMIZED_OUT,
	LOCATION_MEMORY, /* at `address` */
	LOCATION_BYTES,  /* bytes[len_bytes], of which is_known[] are known */
};

struct location {
	enum location_kind kind;
	uint64_t address;
	uint8_t bytes[LOCATION_BYTES_MAX];
	bool is_known[LOCATION_BYTES_MAX];
	uint32_t len_bytes;
	/*
	 * Not 0: it holds for all of a loop, whose code this is, as in the debug information, and nothing in the loop changes it. Loops that
	 * were vectorized keep what a variable was before them: only the source tells whether they change it.
	 */
	uint64_t loop_start, loop_end;
};

/* A machine frame. */
struct location_frame {
	struct snapshot *s;
	const struct snapshot_frame *frame;
	const struct snapshot_frame *caller; /* NULL: none, or not known */
	uint64_t thread_pointer;
	int depth;           /* of callers whose values are asked for */
	Dwarf_Die function;  /* the machine function's, for its frame base */
	uint64_t address;    /* pc, or of a caller the call's last byte, as in the debug information */
	uint64_t bias;       /* address in memory = address in the debug information + bias */
	uint64_t body;       /* behind the prologue, as in the debug information; 0: not known */
	uint64_t start, end; /* of the function's part that has its entry */
	Dwarf_Die unit;
};

/* Fills in what follows from the function and the frame. */
void location_frame_init(struct snapshot *s, const struct snapshot_frame *frame, const struct snapshot_frame *caller,
			 uint64_t thread_pointer, const struct snapshot_scopes *scopes, struct location_frame *ret);

/* Control is behind the function's prologue. */
bool location_is_in_body(const struct location_frame *f);
/* And the register, LOCATION_RBP or LOCATION_RSP, is what the debug information has for the whole function. */
bool location_is_set_up(const struct location_frame *f, int reg);

/* Fills in the loop of a location, whose expression this is. */
void location_find_loop(const struct location_frame *f, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
			struct location *ret);
/* The loop changes the variable, or may. a: NULL: nobody knows. */
bool location_loop_changes(const struct location_frame *f, Dwarf_Die *variable, const struct location *place,
			   const struct snapshot_assignments *a);

/* Finds the location of a variable or parameter whose type has len_bytes. */
void location_find(const struct location_frame *f, Dwarf_Die *variable, uint64_t len_bytes, struct location *ret);

#endif
