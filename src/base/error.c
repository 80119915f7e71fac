/*
 * error.c - creating, extending and destroying errors.
 *
 * Formats messages; prints nothing. Everything falls back to the static out-of-memory error.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char no_memory_message[] = "out of memory";
struct error error_no_memory = {.code = ERROR_NO_MEMORY, .message = no_memory_message};

static __attribute__((format(printf, 2, 0))) char *format_text(const struct allocator *allocator, const char *format,
							       va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = len < 0 ? NULL : allocator_alloc(allocator, (size_t)len + 1, 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, format, args);
	return text;
}

/* "before: after" */
static char *join(const struct allocator *allocator, const char *before, const char *after)
{
	size_t size_bytes = strlen(before) + strlen(after) + sizeof ": ";
	char *text = allocator_alloc(allocator, size_bytes, 1);

	if (text)
		snprintf(text, size_bytes, "%s: %s", before, after);
	return text;
}

/* Takes message. */
static struct error *error_wrap(const struct allocator *allocator, enum error_code code, char *message)
{
	struct error *err = message ? allocator_alloc(allocator, 1, sizeof(*err)) : NULL;

	if (!err) {
		allocator_free(allocator, message);
		return &error_no_memory;
	}
	*err = (struct error){.code = code, .message = message, .allocator = allocator};
	return err;
}

struct error *error_create(enum error_code code, const char *format, ...)
{
	va_list args;
	char *message;

	va_start(args, format);
	message = format_text(NULL, format, args);
	va_end(args);
	return error_wrap(NULL, code, message);
}

struct error *error_create_in(const struct allocator *allocator, enum error_code code, const char *format, ...)
{
	va_list args;
	char *message;

	va_start(args, format);
	message = format_text(allocator, format, args);
	va_end(args);
	return error_wrap(allocator, code, message);
}

struct error *error_os(int errnum, const char *format, ...)
{
	char scratch[128];
	va_list args;
	char *text, *message;

	va_start(args, format);
	text = format_text(NULL, format, args);
	va_end(args);
	message = text ? join(NULL, text, strerror_r(errnum, scratch, sizeof(scratch))) : NULL;
	allocator_free(NULL, text);
	return error_wrap(NULL, ERROR_OS, message);
}

struct error *error_context(struct error *err, const char *format, ...)
{
	va_list args;
	char *text, *message;

	if (!err || err == &error_no_memory)
		return err;
	va_start(args, format);
	text = format_text(err->allocator, format, args);
	va_end(args);
	/* Without memory for the context the bare message is still better than none. */
	message = text ? join(err->allocator, text, err->message) : NULL;
	if (message) {
		allocator_free(err->allocator, err->message);
		err->message = message;
	}
	allocator_free(err->allocator, text);
	return err;
}

void error_destroy(struct error *err)
{
	if (!err || err == &error_no_memory)
		return;
	allocator_free(err->allocator, err->message);
	allocator_free(err->allocator, err);
}
