/* program.cpp - the program: main -> library -> callback here -> library and so on, in all the ways in which calls come and go. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "mix.h"

extern "C" { /* names as the shadow stack has them */

NOINLINE void leaf(int n)
{
	SCOPE();
	(void)n;
	CHECK();
}

NOINLINE void nests(int n)
{
	SCOPE();
	CHECK();
	leaf(n);
	if (n > 0)
		library_apply(nests, n - 1);
	CHECK();
}

NOINLINE void throws_here(int n)
{
	SCOPE();
	library_apply(leaf, n);
	throw n;
}

NOINLINE void throws_there(int n)
{
	SCOPE();
	library_throws(n);
}

NOINLINE void exceptions(int n)
{
	SCOPE();
	library_catches(throws_here, n);
	try {
		library_apply(throws_here, n);
	} catch (int) {
		CATCH_RESTORE();
		CHECK();
	}
	try {
		library_apply(throws_there, n);
	} catch (int) {
		CATCH_RESTORE();
		CHECK();
	}
	CHECK();
}

static thread_local jmp_buf *program_buffer;

NOINLINE void jumps_out(int n)
{
	ENTER();
	CHECK();
	longjmp(*program_buffer, n + 1);
}

NOINLINE void jumps_in(int n)
{
	ENTER();
	CHECK();
	longjmp(*library_buffer, n + 1);
}

NOINLINE void library_jumps_out(int n)
{
	ENTER();
	library_jumps(program_buffer, n);
	LEAVE();
}

NOINLINE void lands(void (*callback)(int), int n)
{
	ENTER();
	jmp_buf here;
	program_buffer = &here;
	if (!setjmp(here)) {
		library_apply(callback, n);
	} else {
		RESTORE();
		CHECK();
	}
	leaf(n);
	CHECK();
	LEAVE();
}

NOINLINE void jumps(int n)
{
	SCOPE();
	lands(jumps_out, n);
	lands(library_jumps_out, n);
	library_lands(jumps_in, n);
	library_lands(nests, n);
	CHECK();
}

NOINLINE void on_signal(int number)
{
	SIGNAL_ENTER();
	(void)number;
	library_apply(leaf, 1);
	CHECK();
	LEAVE();
}

NOINLINE void raises(int n)
{
	SCOPE();
	(void)n;
	EXPECT(raise(SIGUSR1) == 0);
	CHECK();
}

NOINLINE void *run(void *data)
{
	THREAD_ROOT();
	SCOPE();
	(void)data;
	for (int i = 0; i < ROUNDS / 4; i++) {
		nests(2);
		exceptions(i);
		jumps(i % 3);
	}
	return NULL;
}

NOINLINE void creates(int n)
{
	SCOPE();
	pthread_t threads[2];
	(void)n;
	for (pthread_t &thread : threads)
		EXPECT(CREATE(pthread_create(&thread, NULL, run, NULL)) == 0);
	for (pthread_t &thread : threads)
		EXPECT(pthread_join(thread, NULL) == 0);
	CHECK();
}

/* What library_last has pushed goes when this leaves. */
NOINLINE void goes_on(int n)
{
	SCOPE();
	library_last(nests, n);
}

NOINLINE void allocates(int n)
{
	void *volatile block = malloc(10);
	(void)n;
	free(block);
	free(library_allocates());
}

NOINLINE void logs(int n)
{
	wm_event("logged", 1);
	library_logs();
	(void)n;
}

int main(void)
{
	struct sigaction action = {};
	SCOPE();
	action.sa_handler = on_signal;
	EXPECT(sigaction(SIGUSR1, &action, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		nests(i % 4);
		exceptions(i);
		jumps(i % 3);
		goes_on(1);
		library_apply(raises, i);
		CHECK();
	}
	library_thread(nests, 3);
	library_apply(creates, 0);
	creates(0);
	library_apply(allocates, 0);
	allocates(0);
	library_apply(logs, 0);
	CHECK();
	return 0;
}
}
