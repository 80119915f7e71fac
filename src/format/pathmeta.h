/*
 * pathmeta.h - the model of a `.debug_waymark_paths` section: the control flow of the functions whose paths are counted, as
 * the instrumenter saw it, so that path numbers become source lines.
 *
 * Source stage: the compiler appends one unit for each translation unit and the linker puts them one after the other; a
 * function that several units emit (inline functions, templates) is there several times and read once. Final stage: one unit
 * for the linked image. The section is not loaded and goes with strip and objcopy --only-keep-debug, as .debug_waymark does.
 * docs/format.md gives every byte.
 */
#ifndef WM_FORMAT_PATHMETA_H
#define WM_FORMAT_PATHMETA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "core/paths/cfg.h"
#include "format/skipped.h"

enum pathmeta_stage {
	PATHMETA_SOURCE = 0,
	PATHMETA_FINAL = 1,
	PATHMETA_STAGES,
};

/* The meaning of an edge in the source. */
enum pathmeta_outcome_kind {
	PATHMETA_PLAIN = 0, /* the only way on */
	PATHMETA_TRUE,
	PATHMETA_FALSE,
	PATHMETA_CASE, /* `value` */
	PATHMETA_DEFAULT,
	PATHMETA_NORMAL, /* a call that may throw returned */
	PATHMETA_UNWIND, /* it threw */
	PATHMETA_JUMP,   /* indirect goto, asm goto: one of its targets */
	PATHMETA_CASES,  /* one of several cases: `cases` */
	PATHMETA_OUTCOMES,
};

/* Values of cases that lead to one block: rising, apart from each other. */
struct pathmeta_cases {
	struct pathmeta_range {
		int64_t first, last;
	} ranges[8];
	uint32_t count;
	bool has_more; /* than there is room for */
};

struct pathmeta_outcome {
	enum pathmeta_outcome_kind kind;
	int64_t value;                      /* CASE */
	const struct pathmeta_cases *cases; /* CASES */
};

/* One source position with code in a block, in the order of the code; neighbours differ. */
struct pathmeta_line {
	const char *function; /* inlined from there (linkage name); NULL: the function itself */
	const char *file;
	uint32_t line;
	uint32_t column;
	/* Counts, is not shown: of the block's code only the branch stands here, and what it tests on another line of the block; or
	 * nothing but a jump round a handler of exceptions, or a phi. */
	bool is_branch_only;
};

enum pathmeta_test_flag {
	/* The code is as the compiler's front end made it: the way that is true is that of the expression at `at` being true, or,
	 * with NEGATED, false. Without it, and without VALUE, an optimizer may have turned the branch round. */
	PATHMETA_TEST_AS_WRITTEN = 1,
	PATHMETA_TEST_NEGATED = 2,
	PATHMETA_TEST_ONE_OF = 4, /* others stand on the same line */
	PATHMETA_TEST_JOINED =
		8, /* tested is what block `from` computed, where control comes from it; else a constant */
	PATHMETA_TEST_CHARACTER = 16, /* a switch over characters: switches have no place */
	PATHMETA_TEST_CONSTANT = 32,  /* nothing is tested; no place either */
	/* Optimized code that asks whether the variable or the call `name`, which stands at `at` itself, is other than zero: the way that
	 * is true is that of its being so, or, with NEGATED, of its being zero. */
	PATHMETA_TEST_VALUE = 64,
	PATHMETA_TEST_FLAGS = 127,
};

/* How: by the comparison as it stands in the code. */
enum pathmeta_compare {
	PATHMETA_COMPARE_UNKNOWN = 0,
	PATHMETA_COMPARE_TRUTH, /* with zero, as not equal: a truth value, too */
	PATHMETA_COMPARE_EQUAL,
	PATHMETA_COMPARE_UNEQUAL,
	PATHMETA_COMPARE_LESS,
	PATHMETA_COMPARE_LESS_EQUAL,
	PATHMETA_COMPARE_GREATER,
	PATHMETA_COMPARE_GREATER_EQUAL,
	PATHMETA_COMPARES,
};

/* The test of the branch at the end of a block: the innermost comparison, truth value or call of its condition. */
struct pathmeta_test {
	uint32_t node;
	uint8_t flags;
	uint8_t compare;         /* enum pathmeta_compare */
	struct pathmeta_line at; /* line 0: not known */
	const char *name; /* the variable or function whose value is tested, as the source names it; NULL: not known */
	uint32_t from;    /* JOINED: a node; else UINT32_MAX */
	/* Which of so many tests at one place, in the order of the code: all in a macro stand where it does. count 0: not known. */
	uint32_t number, count;
};

struct pathmeta_function {
	uint64_t name_key;
	uint64_t cfg_key;
	uint64_t path_count; /* checked on read against the numbering of cfg */
	const char *link_name;
	const char *name; /* linkage name or name in the debug information, else link_name */
	const char *file; /* where it is defined; NULL without debug information */
	uint32_t line;
	uint8_t kind; /* enum wm1_path_kind */
	uint8_t bits;
	uint16_t flags;       /* enum wm1_path_flag */
	uint32_t interesting; /* PLAN: paths with a place of their own */
	uint64_t interval;    /* PLAN: size of the interval of their PPP numbers */
	/* ARRAY and HASH: the paths that a plan chose, rising. PLAN has them in its tables. */
	uint64_t *planned;
	uint32_t planned_count;
	bool has_plan;
	uint32_t unit;                     /* index */
	struct cfg cfg;                    /* frequencies are 0 */
	struct pathmeta_outcome *outcomes; /* [cfg.edge_count] */
	uint32_t *first_line; /* [cfg.node_count + 1]: lines of node n are first_line[n] to first_line[n + 1] - 1 */
	struct pathmeta_line *lines;
	/* Where the code chooses without a branch, so that paths do not tell what was chosen. */
	uint32_t selects;            /* selects, minima, maxima, masked accesses */
	uint32_t switch_tables;      /* values of a switch that are looked up */
	struct pathmeta_test *tests; /* by rising node */
	uint32_t test_count;
	/* Final stage: what of the source its code does not tell. It may have run where nothing tells, whatever else ran: when the
	 * program was linked, or inlined into a function that is not here. */
	bool is_unseen;
	/* Functions that may have run inside this one, if it ran, and leave no block here: inlined copies that were folded, calls
	 * that were dropped. Names as lines have them. */
	const char **hidden;
	uint32_t hidden_count;
	/* The optimizer was at it: of a line, code may be left where it does not always stand. But the firm ones, which rise: where
	 * these have code, they ran or did not. Indices in lines. */
	bool is_optimized;
	uint32_t *firm;
	uint32_t firm_count;
};

struct pathmeta_unit {
	const char *producer; /* "waymark 0.1.0 LLVM 19.1.7" */
	const char *name;     /* source file or output file */
	enum pathmeta_stage stage;
};

struct pathmeta {
	struct arena arena;
	struct pathmeta_unit *units;
	uint32_t unit_count;
	struct pathmeta_function *functions; /* after reading: by rising (name_key, cfg_key), each pair once */
	uint32_t function_count;
	struct skipped_function *skipped;
	uint32_t skipped_count;
};

void pathmeta_init(struct pathmeta *m);
void pathmeta_deinit(struct pathmeta *m);

/* Appends one unit's bytes (units[0]; zstd-compressed body) to out. */
struct error *pathmeta_write(const struct pathmeta *m, struct buffer *out);

/* Parses a whole section, all its units. name is for messages ("gzip: .debug_waymark_paths"). Checks every index, size and
 * kind, each graph (cfg_check) and path_count. m must be initialised. */
struct error *pathmeta_read(const void *bytes, size_t len_bytes, const char *name, struct pathmeta *m);

/* The test of the branch at the end of a node; NULL: it is not known. */
const struct pathmeta_test *pathmeta_find_test(const struct pathmeta_function *f, uint32_t node);

/* The line, an index, has no code but where it is known to stand: if none of that ran, the line did not. */
bool pathmeta_is_whole(const struct pathmeta_function *f, uint32_t line);

/* NULL when there is none. After pathmeta_read. */
const struct pathmeta_function *pathmeta_find(const struct pathmeta *m, uint64_t name_key, uint64_t cfg_key);

#endif
