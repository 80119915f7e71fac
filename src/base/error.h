/*
 * error.h - the one error convention of host code (everything but runtime, agent and jvm).
 *
 * A function that can fail returns `struct error *`: NULL is success. Its out-parameters come last and are untouched on
 * failure. The caller owns the error: it passes it up, adds context to it, or destroys it. Only src/cli prints one.
 * Not for signal handlers. Thread-safe as far as each error is used by one thread.
 */
#ifndef WM_BASE_ERROR_H
#define WM_BASE_ERROR_H

#include "base/allocator.h"

enum error_code {
	ERROR_NO_MEMORY = 1,
	ERROR_OS,        /* a system call failed; the message has strerror */
	ERROR_FORMAT,    /* bytes that are not what they should be: truncated, damaged, another version */
	ERROR_NOT_FOUND, /* no such file, section, build id, function */
	ERROR_MISMATCH,  /* two files that do not belong together */
	ERROR_OVERFLOW,  /* a number that does not fit */
	ERROR_ARGUMENT,  /* what the user asked for makes no sense */
};

struct error {
	enum error_code code;
	char *message; /* one line, no newline: what, where (file, offset), what to do */
	const struct allocator *allocator;
};

/* Never returns NULL: when memory is short it returns a static ERROR_NO_MEMORY. */
struct error *error_create(enum error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));
/* Creates the error in memory of that allocator, which outlives it. */
struct error *error_create_in(const struct allocator *allocator, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4), returns_nonnull));
/* ERROR_OS with ": strerror(errnum)" appended. */
struct error *error_os(int errnum, const char *format, ...) __attribute__((format(printf, 2, 3), returns_nonnull));
/* Puts "text: " before the error's message. Takes err, returns it. */
struct error *error_context(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
extern struct error error_no_memory;   /* return &error_no_memory when an allocation fails */
void error_destroy(struct error *err); /* NULL and the static one are fine */

#endif
