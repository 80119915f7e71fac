/* word_table.c - looks words up in their tables. */
#include <string.h>

#include "base/word_table.h"

const struct word *word_table_at(const struct word_table *t, size_t index)
{
	const struct word *w = (const void *)((const char *)t->rows + index * t->row_bytes);
	return w->name ? w : NULL;
}

const void *word_table_find(const struct word_table *t, const char *name)
{
	const struct word *w = NULL;
	for (size_t i = 0; (w = word_table_at(t, i)) && strcmp(w->name, name) != 0; i++)
		;
	return w;
}
