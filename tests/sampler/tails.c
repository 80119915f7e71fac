/*
 * tails.c - functions that call others as their last act. Each notes its name before; leaf records an event with all names as its name, so that a
 * recording says beside each stack which functions there were. tails_library.c has the other half.
 */
#include "tails.h"

#include <string.h>
#include <waymark.h>

char path[4000];
static volatile int sink;

NOT_INLINED void leaf(int x)
{
	NOTE("leaf");
	sink = x;
	wm_event(path, 1);
	sink++;
}

NOT_INLINED void mid(int x)
{
	NOTE("mid");
	leaf(x + 1);
}

static NOT_INLINED void top(int x)
{
	NOTE("top");
	mid(x * 2);
}

/* From two places. */
NOT_INLINED void two(int x)
{
	NOTE("two");
	if (x & 1)
		leaf(x);
	else
		leaf(x * 3);
}

/* By two ways, which end in the same function. */
NOT_INLINED void fork_and_join(int x)
{
	NOTE("fork_and_join");
	if (x & 1)
		mid(x);
	else
		top(x + 5);
}

NOT_INLINED void pong(int x);
NOT_INLINED void ping(int x)
{
	NOTE("ping");
	if (x)
		pong(x - 1);
	else
		leaf(x);
}

/* There may be any number of them. */
NOT_INLINED void pong(int x)
{
	NOTE("pong");
	if (x)
		ping(x - 1);
	else
		leaf(x);
}

static void (*volatile pointer)(int) = leaf;

/* Nobody knows that it leads there. */
NOT_INLINED void by_pointer(int x)
{
	NOTE("by_pointer");
	pointer(x);
}

/* It may lead there in another way. */
NOT_INLINED void perhaps_by_pointer(int x)
{
	NOTE("perhaps_by_pointer");
	if (x & 1)
		pointer(x);
	else
		leaf(x);
}

NOT_INLINED void before_perhaps(int x)
{
	NOTE("before_perhaps");
	perhaps_by_pointer(x);
}

static inline __attribute__((always_inline)) void inlined(int x)
{
	NOTE("inlined");
	mid(x);
}

NOT_INLINED void around(int x)
{
	NOTE("around");
	inlined(x + 2);
}

/* The tail call is of a function that has a frame. */
NOT_INLINED void with_frame(int x)
{
	NOTE("with_frame");
	leaf(x);
	sink++;
}

NOT_INLINED void to_frame(int x)
{
	NOTE("to_frame");
	with_frame(x);
}

/* From another image, and back. */
NOT_INLINED void out_and_back(int x)
{
	NOTE("out_and_back");
	library_entry(x);
}

int main(int argc, char **argv)
{
	(void)argv;
#define CALL(f, x)                 \
	do {                       \
		path[0] = '\0';    \
		NOTE("main");      \
		f(argc - 1 + (x)); \
		sink++;            \
	} while (0)
	CALL(leaf, 1);
	CALL(mid, 1);
	CALL(top, 1);
	CALL(two, 1);
	CALL(two, 2);
	CALL(fork_and_join, 1);
	CALL(fork_and_join, 2);
	CALL(ping, 0);
	CALL(ping, 3);
	CALL(ping, 4);
	CALL(by_pointer, 1);
	CALL(perhaps_by_pointer, 1);
	CALL(before_perhaps, 2);
	CALL(around, 1);
	CALL(to_frame, 1);
	CALL(library_plain, 1);
	CALL(library_entry, 1);
	CALL(out_and_back, 1);
	return 0;
}
