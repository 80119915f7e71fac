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

/* Bytes of the longest of the suffixes that the path has; 0: none. */
static size_t suffix_len(const char *suffixes, const char *path)
{
	size_t path_len = strlen(path), longest = 0;

	while (*suffixes) {
		size_t len = strcspn(suffixes, " ");

		if (len < path_len && len > longest && strncmp(path + path_len - len, suffixes, len) == 0)
			longest = len;
		suffixes += len;
		suffixes += *suffixes == ' ';
	}
	return longest;
}

const void *word_table_find_path(const struct word_table *t, size_t suffixes_off, const char *path)
{
	const struct word *w, *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; (w = word_table_at(t, i)); i++) {
		const char *suffixes = *(const char *const *)(const void *)((const char *)w + suffixes_off);
		size_t len = suffix_len(suffixes, path);

		if (len > longest) {
			longest = len;
			best = w;
		}
	}
	return best;
}
