/*
 * path_coverage.h - counts of source lines and branches, for coverage in the terms of other tools.
 *
 * The count of a line is that of the most frequent block with code on it (as llvm-cov counts). Code that exists several times
 * (instantiations of a template, a static function of a header, the same source in several programs, what was inlined into
 * several functions) is added up.
 *
 * In optimized code (path_folded.h) a count may be a part: folded code is not in it, and of loops that were unrolled only the
 * largest of their copies. A part that is 0 is not known to be never.
 */
#ifndef WM_MODEL_PATHS_PATH_COVERAGE_H
#define WM_MODEL_PATHS_PATH_COVERAGE_H

#include "model/paths/path_view.h"

struct path_line {
	uint32_t file;
	uint32_t line;
	uint64_t count;
	bool is_part;
};
VEC_DECLARE(path_line_vec, struct path_line);

/* One outcome of a branch: of if, loops, switch, ?:, && and ||. */
struct path_branch {
	uint32_t file;
	uint32_t line;
	uint32_t block;   /* distinguishes the branches of one line, from 0 */
	uint32_t way;     /* 0, 1, ... of this branch */
	uint64_t reached; /* how often the branch was come to */
	uint64_t count;   /* how often it went this way */
	bool is_part;
	struct pathmeta_outcome outcome;
	uint32_t to_line; /* of optimized code, where true and false mean nothing: where it goes; 0: not known */
};
VEC_DECLARE(path_branch_vec, struct path_branch);

/* The lines of all functions with this link name and place together. */
struct path_line_function {
	uint32_t file;
	uint32_t line;
	uint64_t calls;
	bool is_part;
	const struct path_function *function; /* one of them */
};
VEC_DECLARE(path_line_function_vec, struct path_line_function);

struct path_line_file {
	const char *name;
	/* ranges of the vectors below */
	size_t first_line, line_count;
	size_t first_branch, branch_count;
	size_t first_function, function_count;
	size_t lines_hit, branches_hit, functions_hit;
	size_t lines_known, branches_known,
		functions_known; /* without those of which it is not known whether they ran */
};
VEC_DECLARE(path_line_file_vec, struct path_line_file);

struct path_lines {
	struct path_line_file_vec files; /* by name */
	struct path_line_vec lines;      /* by file, line; and so on */
	struct path_branch_vec branches;
	struct path_line_function_vec functions;
};

/* Makes the lines of the view's functions. Counts omit code that was inlined into others, and are then a part. It borrows names of the profile. */
struct error *path_lines_create(const struct path_view *v, struct path_lines *ret);
void path_lines_deinit(struct path_lines *l);

#endif
