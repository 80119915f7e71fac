/*
 * A pointer that nobody checked is copied to: memcpy and its inlined form fault in the middle of a block, in front of calls and
 * behind them. The copies themselves are no calls, of which points tell, until the code generator makes them some.
 */
#include <string.h>

struct message {
	char *to;
	const char *from;
	size_t len;
	volatile int step;
};

static volatile char last;

__attribute__((noinline)) static void log_line(const char *text)
{
	last = *text;
}

/* The call behind the copy is the only one of its block that is no copy. */
__attribute__((noinline)) static void receive(struct message *m)
{
	m->step = 1;
	memcpy(m->to, m->from, m->len);
	m->step = 2;
	log_line("received");
	m->step = 3;
}

/* In front of it. */
__attribute__((noinline)) static void deliver(struct message *m)
{
	m->step = 4;
	log_line("delivers");
	m->step = 5;
	memmove(m->to, m->from, m->len);
	m->step = 6;
}

/* A few instructions where the compiler optimizes. */
__attribute__((noinline)) static void stamp(struct message *m)
{
	m->step = 7;
	log_line("stamps");
	m->step = 8;
	memcpy(m->to, m->from, 24);
	m->step = 9;
	log_line("stamped");
}

/* The word's first letter says which of them gets the bad address. */
int main(int argc, char **argv)
{
	static char from[64], to[64];
	const char which = argc > 1 ? argv[1][0] : 'r';
	struct message m = {which == 'r' ? (char *)16 : to, from, 40, 0};

	receive(&m);
	m.to = which == 'd' ? (char *)16 : to;
	deliver(&m);
	m.to = (char *)16;
	stamp(&m);
	return 0;
}
