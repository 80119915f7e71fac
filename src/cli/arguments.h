/*
 * arguments.h - a compiler's command line with its @files read in. A file may be a pipe, which can be read only once: what
 * is handed on is a response file of our own.
 */
#ifndef WM_CLI_ARGUMENTS_H
#define WM_CLI_ARGUMENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

VEC_DECLARE(word_vec, char *);

struct arguments {
	struct arena arena; /* owns the words */
	struct word_vec words;
	bool has_files; /* some word came out of an @file */
};

/* Replaces each @file by its words, quoted as GNU response files are; nested ones too, and those of the linker (-Wl,@file). An
 * unreadable one stays a word, as it does for clang. */
struct error *arguments_expand(char *const *words, size_t count, struct arguments *ret);
/* Writes words as a response file in memory; *ret is the malloc'd word that names it for this process's children. */
struct error *arguments_write(char *const *words, size_t count, char **ret);
void arguments_deinit(struct arguments *arguments);

#endif
