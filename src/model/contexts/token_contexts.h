/*
 * token_contexts.h - from tokens to frames: finds the .wmk of a token's run and the metadata of its images, and keeps them open.
 *
 * Not thread-safe. Frames are good until the next token is decoded.
 */
#ifndef WM_MODEL_CONTEXTS_TOKEN_CONTEXTS_H
#define WM_MODEL_CONTEXTS_TOKEN_CONTEXTS_H

#include <sys/types.h>
#include <time.h>

#include "format/token.h"
#include "model/contexts/context.h"
#include "base/hashmap.h"

struct token_place {
	char *path;
	bool is_listed; /* with all that it had when this was its time of change */
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct token_run;
VEC_DECLARE(token_run_vec, struct token_run *);
VEC_DECLARE(token_place_vec, struct token_place);

struct token_decoder {
	struct image_cache cache;      /* its search is the caller's to fill, before the first token */
	struct token_place_vec places; /* .wmk files, or directories of them */
	struct token_run_vec runs;
	struct hashmap run_map; /* number of the run -> index into runs */
	struct process single;  /* of the last token that was decoded without a .wmk */
	size_t max_depth;       /* 0: CONTEXT_DEPTH_MAX */
};

void token_decoder_init(struct token_decoder *d);
void token_decoder_deinit(struct token_decoder *d);
/* A .wmk file or a directory that has some, now or later. */
struct error *token_decoder_add_place(struct token_decoder *d, const char *path);

/* Appends the frames of a TOKEN_CONTEXT, outermost first. The error's message is a reason to stand beside the token. */
struct error *token_decode(struct token_decoder *d, const struct token *t, struct frame_vec *frames);

#endif
