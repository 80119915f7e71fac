/*
 * tokens.h - from tokens to frames: finds the .wmk of a token's run and the metadata of its images, and keeps them open.
 *
 * Not thread-safe. Frames live as long as the decoder.
 */
#ifndef WM_REPORT_TOKENS_H
#define WM_REPORT_TOKENS_H

#include "format/token.h"
#include "report/context.h"
#include "report/keymap.h"

struct token_run;
VEC_DECLARE(token_run_vec, struct token_run *);

struct token_decoder {
	struct image_cache cache; /* its search is the caller's to fill, before the first token */
	struct path_vec places;   /* .wmk files, or directories of them */
	struct token_run_vec runs;
	struct process single;     /* of the last token that was decoded without a .wmk */
	size_t max_depth;          /* 0: CONTEXT_DEPTH_MAX */
	struct keymap missed_runs; /* (run, second): scans of all places did not find it then */
	bool is_scanned;           /* the places, at least once */
};

void token_decoder_init(struct token_decoder *d);
void token_decoder_deinit(struct token_decoder *d);
/* A .wmk file or a directory that has some. */
struct error *token_decoder_add_place(struct token_decoder *d, const char *path);

/* Appends the frames of a TOKEN_CONTEXT, outermost first. The error's message is a reason to stand beside the token. */
struct error *token_decode(struct token_decoder *d, const struct token *t, struct frame_vec *frames);

#endif
