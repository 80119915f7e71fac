/* library.cpp - the shared library of the mixed program: it calls back, throws, catches, jumps, lands and creates threads. */
#include <pthread.h>
#include <stdlib.h>

#include "mix.h"

thread_local jmp_buf *library_buffer;

extern "C" { /* names as the shadow stack has them */

NOINLINE void library_inner(void (*callback)(int), int n)
{
	SCOPE();
	callback(n);
	CHECK();
}

void library_apply(void (*callback)(int), int n)
{
	SCOPE();
	CHECK();
	library_inner(callback, n);
	CHECK();
}

/* Its last act is the call. */
void library_last(void (*callback)(int), int n)
{
	ENTER();
	callback(n);
}

void library_catches(void (*callback)(int), int n)
{
	SCOPE();
	try {
		library_inner(callback, n);
	} catch (int) {
		CATCH_RESTORE();
		CHECK();
	}
	CHECK();
}

void library_throws(int n)
{
	SCOPE();
	CHECK();
	throw n;
}

void library_lands(void (*callback)(int), int n)
{
	ENTER();
	jmp_buf here, *volatile before = library_buffer;
	if (!setjmp(here)) {
		library_buffer = &here;
		library_inner(callback, n);
	} else {
		RESTORE();
		CHECK();
	}
	library_buffer = before;
	CHECK();
	LEAVE();
}

void library_jumps(jmp_buf *to, int n)
{
	ENTER();
	CHECK();
	longjmp(*to, n + 1);
}

struct work {
	void (*callback)(int);
	int n;
};

NOINLINE void *library_run(void *data)
{
	THREAD_ROOT();
	SCOPE();
	const work *w = static_cast<work *>(data);
	library_inner(w->callback, w->n);
	CHECK();
	return NULL;
}

void library_thread(void (*callback)(int), int n)
{
	SCOPE();
	work w = {callback, n};
	pthread_t thread;
	EXPECT(CREATE(pthread_create(&thread, NULL, library_run, &w)) == 0);
	CHECK();
	EXPECT(pthread_join(thread, NULL) == 0);
	CHECK();
}

void *library_allocates(void)
{
	void *volatile block = malloc(1000);
	return block;
}

void library_logs(void)
{
	wm_event("logged", 5);
	__asm__ volatile("");
}
}
