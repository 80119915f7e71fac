/* tasks.h - the threads of a process, from its task folder in /proc. Signal-safe; no memory but the caller's. */
#ifndef WM_NATIVE_TASKS_H
#define WM_NATIVE_TASKS_H

#include <stdint.h>

struct tasks_buffer {
	_Alignas(8) char entries[2048];
};

/* Calls visit for each thread in the folder at that path; for none, if it cannot be read. Threads that begin or end meanwhile may be left out. */
void tasks_each(const char *path, struct tasks_buffer *buffer, void (*visit)(uint32_t tid, void *data), void *data);
/* The number that the text begins with; 0: none. */
uint32_t tasks_number(const char *text);

#endif
