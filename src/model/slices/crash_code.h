/*
 * crash_code.h - a stopped program's functions and those of its bitcode, which are the same, and what ran of them.
 *
 * A function of the bitcode is the one of the metadata with its name, of the same unit where both have as many, whose graph its blocks fit
 * (analyze/ran.h). What has no such partner may have run.
 */
#ifndef WM_MODEL_SLICES_CRASH_CODE_H
#define WM_MODEL_SLICES_CRASH_CODE_H

#include "analyze/ran.h"
#include "model/crash/crash.h"

struct crash_code {
	struct arena arena;
	const struct crash *crash;
	const struct code *code;
	uint32_t image;          /* index of the module that the bitcode is of */
	uint32_t *of_code;       /* [function of the code] number in the crash's functions; UINT32_MAX: none */
	uint32_t *of_crash;      /* [the crash's function] in the code; UINT32_MAX: none */
	struct ran_nodes *nodes; /* [function of the code] */
	bool *fits;              /* [function of the code]: nodes are those of the recording */
	uint32_t unknown_count;  /* functions with code of which it is not known what ran of them */
};

/* Both outlive it. */
struct error *crash_code_create(const struct crash *crash, const struct code *code, struct crash_code *ret);
void crash_code_deinit(struct crash_code *m);

const struct pathmeta_function *crash_code_flow(const struct crash_code *m, uint32_t function);

/* The function of the code that a frame is an activation of; CODE_NONE: of none. */
uint32_t crash_code_function(const struct crash_code *m, const struct crash_frame *f);

/* What ran. The caller deinits. */
struct error *crash_code_ran(const struct crash_code *m, const struct activity_result *r, struct ran *ret);

#endif
