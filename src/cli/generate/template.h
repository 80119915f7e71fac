/*
 * template.h - files in which lines of the form @NAME ARGUMENTS@ stand for what is made from the tables of options.
 */
#ifndef WM_CLI_GENERATE_TEMPLATE_H
#define WM_CLI_GENERATE_TEMPLATE_H

#include <stdio.h>

#include "base/error.h"

struct template_file {
	const char *path;
	unsigned int line; /* of the marker at hand */
	const char *text;
	const char *rest; /* what follows the line of the marker */
};

/* The text for the markers of a name. arguments: words of the marker. */
struct marker {
	const char *name;
	struct error *(*print)(void *state, const struct template_file *t, const char *arguments, FILE *out);
};

/* An error at the marker at hand. */
struct error *template_error(const struct template_file *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Copies the file at path with what stands for its markers. markers: the last one has no name. */
struct error *template_print(const char *path, const struct marker *markers, void *state, FILE *out);

#endif
