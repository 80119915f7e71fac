/* number.c - parses numbers of options; signs, spaces and rests are refused, unlike by strtoull alone. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"

struct error *number_parse(const char *option, const char *text, size_t *ret)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n == 0 || n > SIZE_MAX / 1024)
		return error_create(ERROR_ARGUMENT, "%s %s: a number from 1 is needed", option, text);
	*ret = (size_t)n;
	return NULL;
}

struct error *number_parse_top(const char *text, size_t *ret)
{
	if (strcmp(text, "all") != 0)
		return number_parse("--top", text, ret);
	*ret = 0;
	return NULL;
}
