/*
 * sarif.h - what documents of SARIF 2.1.0 (OASIS, 2020) share: how they begin, and places.
 */
#ifndef WM_REPORT_SARIF_H
#define WM_REPORT_SARIF_H

#include <stdint.h>
#include <stdio.h>

struct sarif_rule {
	const char *id;
	const char *text; /* one line */
};

/* Up to the list of results, which the caller ends, and with it the document, by "]}]}". */
void sarif_print_start(FILE *out, const struct sarif_rule *rules, size_t count);
/* A member "physicalLocation". line 0: the file alone. */
void sarif_print_place(FILE *out, const char *file, uint32_t line);

#endif
