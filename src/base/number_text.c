/* number_text.c - numbers with commas, rough ones, shares that do not claim to be none or all when they are not. */
#include <inttypes.h>
#include <stdio.h>

#include "base/number_text.h"

const char *digits_grouped(uint64_t n, char buf[DIGITS_MAX])
{
	char digits[DIGITS_MAX];
	size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

const char *digits_rough(uint64_t n, char buf[DIGITS_MAX])
{
	if (n < 10000000)
		return digits_grouped(n, buf);
	snprintf(buf, DIGITS_MAX, "%.1e", (double)n);
	return buf;
}

const char *digits_time(uint64_t ns, char buf[DIGITS_MAX])
{
	char whole[DIGITS_MAX];

	snprintf(buf, DIGITS_MAX, "%.24s.%u ms", digits_grouped(ns / 1000000, whole), (unsigned int)(ns / 100000 % 10));
	return buf;
}

double digits_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

const char *digits_percent(uint64_t part, uint64_t whole, char buf[DIGITS_MAX])
{
	double share = digits_share(part, whole);

	if (part && share < 0.05)
		snprintf(buf, DIGITS_MAX, "< 0.1 %%");
	else if (part < whole && share >= 99.95)
		snprintf(buf, DIGITS_MAX, "> 99.9 %%");
	else
		snprintf(buf, DIGITS_MAX, "%.1f %%", share);
	return buf;
}
