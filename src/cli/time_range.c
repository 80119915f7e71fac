/* time_range.c - two decimal numbers with units. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/time_range.h"

static const struct {
	const char *name;
	double ns;
} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};

/* Digits with at most one point: no sign, no exponent, no name of a number. */
static size_t number_len(const char *text)
{
	size_t len = strspn(text, "0123456789");

	if (text[len] == '.' && isdigit((unsigned char)text[len + 1]))
		len += 1 + strspn(text + len + 1, "0123456789");
	return len;
}

/* False: it is no time. */
static bool parse_time(const char *text, size_t len, uint64_t *ret)
{
	size_t digits = number_len(text);

	if (!digits || digits > len)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		double ns;

		if (strlen(units[i].name) != len - digits || strncmp(text + digits, units[i].name, len - digits) != 0)
			continue;
		ns = strtod(text, NULL) * units[i].ns;
		if (ns > 9e18)
			return false;
		*ret = (uint64_t)(ns + 0.5);
		return true;
	}
	return false;
}

struct error *time_range_parse(const char *text, struct time_range *ret)
{
	const char *dots = strstr(text, "..");
	struct time_range range = {.to_ns = UINT64_MAX};

	if (!dots || (dots != text && !parse_time(text, (size_t)(dots - text), &range.from_ns)) ||
	    (dots[2] && !parse_time(dots + 2, strlen(dots + 2), &range.to_ns)) || range.from_ns >= range.to_ns)
		return error_create(ERROR_ARGUMENT, "--time %s: FROM..TO is needed, as 1.5..3, 250ms.. or ..2m", text);
	*ret = range;
	return NULL;
}
