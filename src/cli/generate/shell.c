/* shell.c - the parts that both completions have in common. */
#include "cli/generate/shell.h"

#include <string.h>

void shell_print_words(const struct option_row *row, FILE *out)
{
	const char *word;

	for (size_t i = 0; (word = option_word(row, i)); i++) {
		size_t len = strcspn(word, "=");

		fprintf(out, "%s%.*s", i ? " " : "", (int)len + (word[len] == '='), word);
	}
}
