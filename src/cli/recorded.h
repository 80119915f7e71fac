/*
 * recorded.h - which .wmk files a run has written.
 */
#ifndef WM_CLI_RECORDED_H
#define WM_CLI_RECORDED_H

#include <stdint.h>
#include <stdio.h>

/* Says on f which .wmk files of dir were begun at since_ns (CLOCK_REALTIME) or later. Returns how many. */
unsigned int recorded_print(const char *dir, uint64_t since_ns, FILE *f);

#endif
