/*
 * link_inputs.h - the objects and archives that a link with the pass is given: which have bitcode, and which have some that
 * no link may take (object/fat_object.h). The latter are linked as what their machine code is: foreign code.
 */
#ifndef WM_CLI_LINK_INPUTS_H
#define WM_CLI_LINK_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct link_inputs {
	const char *command; /* "cc", for messages */
	char *const *words;  /* the whole command line */
	size_t count;
	/* The findings of the calls below. */
	bool has_bitcode;
	unsigned int foreign_objects; /* objects without bitcode that can be used */
	unsigned int foreign_members; /* the same in archives: linked if something needs them */
	unsigned int said;            /* messages */
};

/*
 * Looks at words[i]: a file, or -lNAME that an archive in a directory of -L satisfies. When it has bitcode that must not be
 * used, says so, and *ret is a malloc'd word to use instead: a copy in memory whose bitcode linkers pass over. Else NULL.
 * Files that cannot be read are left to the linker.
 */
struct error *link_inputs_word(struct link_inputs *inputs, size_t i, char **ret);
/* After the last word: says what was too much to say one by one. */
void link_inputs_end(const struct link_inputs *inputs);

#endif
