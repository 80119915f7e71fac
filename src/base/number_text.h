/*
 * number_text.h - numbers for reading.
 */
#ifndef WM_BASE_NUMBER_TEXT_H
#define WM_BASE_NUMBER_TEXT_H

#include <stdint.h>

enum {
	DIGITS_MAX = 32,
};

/* 1234567 as "1,234,567". Returns buf. */
const char *digits_grouped(uint64_t n, char buf[DIGITS_MAX]);
/* Prints all digits up to 9,999,999, then "1.2e+09": for numbers that nobody reads to the end. Returns buf. */
const char *digits_rough(uint64_t n, char buf[DIGITS_MAX]);
/* Nanoseconds as "1,234.5 ms". Returns buf. */
const char *digits_time(uint64_t ns, char buf[DIGITS_MAX]);
/* The noun that goes with a number: "sample" with 1, else "samples". */
static inline const char *noun_of(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
/* In percent; 0 of nothing. */
double digits_share(uint64_t part, uint64_t whole);
/* The share as "12.3 %", and "0.0 %" or "100.0 %" only if it is so: else "< 0.1 %", "> 99.9 %". Returns buf. */
const char *digits_percent(uint64_t part, uint64_t whole, char buf[DIGITS_MAX]);

#endif
