/*
 * error.c - creating, extending and destroying errors.
 *
 * Formats messages; prints nothing. Everything falls back to the static out-of-memory error.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char no_memory_message[] = "out of memory";
struct error error_no_memory = {ERROR_NO_MEMORY, no_memory_message};

/* Takes message. */
static struct error *error_wrap(enum error_code code, char *message)
{
	struct error *err = malloc(sizeof(*err));

	if (!err || !message) {
		free(err);
		free(message);
		return &error_no_memory;
	}
	err->code = code;
	err->message = message;
	return err;
}

struct error *error_create(enum error_code code, const char *format, ...)
{
	char *message = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	return error_wrap(code, message);
}

struct error *error_os(int errnum, const char *format, ...)
{
	char *text = NULL;
	char *message = NULL;
	char scratch[128];
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text && asprintf(&message, "%s: %s", text, strerror_r(errnum, scratch, sizeof(scratch))) < 0)
		message = NULL;
	free(text);
	return error_wrap(ERROR_OS, message);
}

struct error *error_context(struct error *err, const char *format, ...)
{
	char *text = NULL;
	char *message = NULL;
	va_list args;

	if (!err || err == &error_no_memory)
		return err;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	/* Without memory for the context the bare message is still better than none. */
	if (text && asprintf(&message, "%s: %s", text, err->message) >= 0) {
		free(err->message);
		err->message = message;
	}
	free(text);
	return err;
}

void error_destroy(struct error *err)
{
	if (!err || err == &error_no_memory)
		return;
	free(err->message);
	free(err);
}
