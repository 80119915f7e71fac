/*
 * check.h - assertions for plain C tests: each failure prints where and what, main returns check_status().
 */
#ifndef WM_TESTS_CHECK_H
#define WM_TESTS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static unsigned int check_failures;

__attribute__((unused)) static int check_that(int is_true, const char *file, int line, const char *text)
{
	if (!is_true) {
		check_failures++;
		fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
	}
	return is_true;
}

__attribute__((unused)) static int check_equal_u64(uint64_t got, uint64_t want, const char *file, int line,
						   const char *text)
{
	if (got != want) {
		check_failures++;
		fprintf(stderr, "%s:%d: %s is %llu, want %llu\n", file, line, text, (unsigned long long)got,
			(unsigned long long)want);
	}
	return got == want;
}

__attribute__((unused)) static int check_equal_text(const char *got, const char *want, const char *file, int line)
{
	int is_equal = strcmp(got, want) == 0;

	if (!is_equal) {
		check_failures++;
		fprintf(stderr, "%s:%d: got \"%s\", want \"%s\"\n", file, line, got, want);
	}
	return is_equal;
}

/* Takes err. */
__attribute__((unused)) static int check_no_error(struct error *err, const char *file, int line)
{
	if (err) {
		check_failures++;
		fprintf(stderr, "%s:%d: unexpected error: %s\n", file, line, err->message);
		error_destroy(err);
	}
	return !err;
}

/* Takes err. message is a part of the one wanted, NULL for any. */
__attribute__((unused)) static int check_has_error(struct error *err, enum error_code code, const char *message,
						   const char *file, int line)
{
	int is_good = err && err->code == code && (!message || strstr(err->message, message));

	if (!is_good) {
		check_failures++;
		fprintf(stderr, "%s:%d: got error %d \"%s\", want %d \"%s\"\n", file, line, err ? (int)err->code : 0,
			err ? err->message : "(none)", (int)code, message ? message : "(any)");
	}
	error_destroy(err);
	return is_good;
}

__attribute__((unused)) static int check_status(void)
{
	if (check_failures)
		fprintf(stderr, "%u checks failed\n", check_failures);
	return check_failures ? 1 : 0;
}

#define CHECK(condition) check_that(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_U64(got, want) check_equal_u64((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, want) check_equal_text(got, want, __FILE__, __LINE__)
#define CHECK_OK(err) check_no_error(err, __FILE__, __LINE__)
#define CHECK_ERROR(err, code, message) check_has_error(err, code, message, __FILE__, __LINE__)

#endif
