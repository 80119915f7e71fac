/* tails.h - what tails.c and tails_library.c have in common. */
#ifndef WM_TESTS_SAMPLER_TAILS_H
#define WM_TESTS_SAMPLER_TAILS_H

#include <string.h>

#define NOT_INLINED __attribute__((noinline))
#define NOTE(name) strcat(strcat(path, *path ? "." : ""), name)

extern char path[4000];
void library_entry(int x);
void library_plain(int x);
void leaf(int x);

#endif
