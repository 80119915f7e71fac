/*
 * watch.h - who is told how far long work has come: it calls watch_tell now and then, not in its innermost loop.
 */
#ifndef WM_BASE_WATCH_H
#define WM_BASE_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct watch {
	/* what: of this kind of work, a text that is not freed. done: in units of its own, rising. */
	void (*tell)(void *data, const char *what, uint64_t done);
	void *data;
};

/* watch: NULL: nobody is told. */
static inline void watch_tell(const struct watch *watch, const char *what, uint64_t done)
{
	if (watch)
		watch->tell(watch->data, what, done);
}

#endif
