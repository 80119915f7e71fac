/* text.h - small questions on texts. */
#ifndef WM_BASE_TEXT_H
#define WM_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Each may be NULL, which is the same as NULL only. */
static inline bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The part of a path behind its last slash. */
static inline const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
