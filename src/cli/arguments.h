/*
 * arguments.h - a compiler's command line with its @files read in, to look at (not to hand on).
 */
#ifndef WM_CLI_ARGUMENTS_H
#define WM_CLI_ARGUMENTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

VEC_DECLARE(word_vec, char *);

struct arguments {
	struct arena arena; /* owns the words */
	struct word_vec words;
};

/* Replaces each @file by its words, quoted as GNU response files are; nested ones too. An unreadable one stays a word, as
 * it does for clang. */
struct error *arguments_expand(char *const *words, size_t count, struct arguments *ret);
void arguments_deinit(struct arguments *arguments);

#endif
