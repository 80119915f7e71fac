/*
 * filtered.h - the process was given a filter of system calls (seccomp) since `waymark run`: what a recorder needs may be forbidden. Filters
 * that the process had from its parent are left to it: as many as `waymark run` had itself, which says how many those are.
 */
#ifndef WM_NATIVE_FILTERED_H
#define WM_NATIVE_FILTERED_H

#include <stdbool.h>

/* At start, by system calls that the loader makes, too. */
bool filtered_is_new(void);

#endif
