/*
 * dacce.h - DACCE as its paper has it (CGO'14): ids above maxID, entries <id, site, target>, Algorithm 1. An oracle for small graphs.
 *
 * Functions are letters, and a call site goes by the letter of its caller, as in the paper's examples: no two calls are alike.
 * Uses nothing of src/core.
 */
#ifndef WM_TESTS_CORE_DACCE_H
#define WM_TESTS_CORE_DACCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DACCE_CALLS = 32,
	DACCE_ENTRIES = 32,
	DACCE_TEXT = 512,
};

struct dacce_call {
	char caller, callee;
	bool is_encoded;
	bool is_back;
	uint64_t addend;
};

struct dacce {
	struct dacce_call calls[DACCE_CALLS];
	uint32_t call_count;
	uint64_t contexts[128]; /* numCC, by letter */
	uint64_t max_id;
	bool counts_runs; /* Figure 5(e): an entry of a back edge that repeats the one below is counted there */
};

struct dacce_context {
	char function;
	uint64_t id;
	struct {
		uint64_t id;
		char site, target;
		uint32_t count; /* of repetitions beyond the first */
	} entries[DACCE_ENTRIES];
	uint32_t entry_count;
};

/* calls: "AC CD AD? DA!", where ? is a call that is not encoded and ! a recursive one. Numbered in this order. */
void dacce_encode(struct dacce *d, const char *calls);
/* The context of a path of letters, which starts at a function with id 0. */
void dacce_walk(const struct dacce *d, const char *path, struct dacce_context *ret);
/* The entries as the paper prints them: "<0,A,D><1,D,A>", a counted one with its count: "<1,D,A,2>". */
void dacce_print(const struct dacce_context *c, char text[DACCE_TEXT]);
/* Algorithm 1: the path. An empty text when it does not end. */
void dacce_decode(const struct dacce *d, const struct dacce_context *c, char text[DACCE_TEXT]);

#endif
