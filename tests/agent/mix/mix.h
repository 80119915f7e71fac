/* mix.h - what the two sides of the program call of each other. One is built by waymark cc, the other by a plain compiler. */
#ifndef MIX_H
#define MIX_H

#include <setjmp.h>

#include "shadow.h"

enum {
	ROUNDS = 40,
};

extern "C" {
/* The library's. */
void library_apply(void (*callback)(int), int n);
void library_last(void (*callback)(int), int n);
void library_catches(void (*callback)(int), int n);
void library_throws(int n);
void library_lands(void (*callback)(int), int n);
void library_jumps(jmp_buf *to, int n);
void library_thread(void (*callback)(int), int n);
void *library_allocates(void);
void library_logs(void);
}

/* The library's jmp_buf of the innermost library_lands. */
extern thread_local jmp_buf *library_buffer;

#endif
