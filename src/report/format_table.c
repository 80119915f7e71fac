/* format_table.c - looks formats up in their tables. */
#include <string.h>

#include "report/format_table.h"

const struct format *format_at(const struct format_table *t, size_t index)
{
	const struct format *f = (const void *)((const char *)t->rows + index * t->row_bytes);
	return f->name ? f : NULL;
}

const void *format_find(const struct format_table *t, const char *name)
{
	const struct format *f = NULL;
	for (size_t i = 0; (f = format_at(t, i)) && strcmp(f->name, name) != 0; i++)
		;
	return f;
}
