/*
 * test_signal.c - contexts in handlers stand on [signal] and what was pushed before; handlers that interrupt pushes and captures anywhere
 * leave both as they were; jumps out of handlers and callbacks drop what they leave.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "profile.h"
#include "push.h"

enum {
	STORM_SIGNALS = 2000,
};

static wm_context here(void)
{
	return wm1_capture(push_image.site_base + 1);
}

static wm_context in_handler;
static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	PUSHED(40, in_handler = here());
	handled = handled + 1;
}

/* Handlers: in one, on what it interrupted. */
static void check_root(wm_context c, uint32_t root, unsigned handlers)
{
	struct profile p;
	struct wmk_node node = {0};
	uint32_t prefix = c.prefix;
	unsigned found = 0;

	if (!profile_of(getpid(), "", &p))
		return;
	while (prefix >= WM_PREFIX_FIRST && CHECK(wmk_find_node(&p.file, prefix, &node)))
		prefix = node.parent, found += node.site == WM_SITE_SIGNAL;
	CHECK_U64(prefix, root);
	CHECK_U64(found, handlers);
	profile_close(&p);
}

static void test_root(void)
{
	wm_context before, after, first, outside;

	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	first = in_handler;
	check_root(first, WM_PREFIX_PROCESS, 1);
	PUSHED(40, outside = here());
	check_root(outside, WM_PREFIX_PROCESS, 0);
	CHECK(!push_same(first, outside));
	raise(SIGUSR1);
	CHECK(push_same(first, in_handler));
	PUSHED(41, (before = here(), raise(SIGUSR1), after = here()));
	CHECK(push_same(before, after));
	check_root(in_handler, WM_PREFIX_PROCESS, 1);
	CHECK(!push_same(first, in_handler)); /* it stands on another push */
	first = in_handler;
	PUSHED(41, raise(SIGUSR1));
	CHECK(push_same(first, in_handler));
}

/* Pushes in a pattern, captures, and compares with what the same pattern gave when nothing interrupted. */
static wm_context descend(int n, uint32_t seed)
{
	wm_context c;
	struct push kept;

	if (n == 0)
		return here();
	wm1_thread_state.id += seed % 3; /* an encoded edge */
	kept = push_at(50 + seed % 5, wm1_thread_state.id, 0);
	c = descend(n - 1, seed * 5 + 1);
	push_end(kept);
	wm1_thread_state.id -= seed % 3;
	return c;
}

static wm_context stormed[STORM_SIGNALS]; /* every third one */
static uint32_t stormed_count;

static void storm_handler(int sig)
{
	wm_context c;

	(void)sig;
	c = descend(handled % 3 == 0 ? 3000 : 30, 7);
	if (handled % 3 == 0 && stormed_count < STORM_SIGNALS)
		stormed[stormed_count++] = c;
	handled = handled + 1;
}

/* Of the pushes of a handler; 0: they do not stand on what it interrupted. */
static uint64_t hash_of_handler(const struct profile *p, wm_context c)
{
	uint64_t hash = c.id ^ c.site;
	uint32_t prefix = c.prefix;
	struct wmk_node node;

	while (prefix >= WM_PREFIX_FIRST && wmk_find_node(&p->file, prefix, &node)) {
		if (node.site == WM_SITE_SIGNAL)
			return hash | 1;
		hash = hash * 31 + node.id;
		hash = hash * 31 + node.site;
		hash = hash * 31 + node.run;
		prefix = node.parent;
	}
	return 0;
}

/* Whatever they interrupted. */
static void check_stormed(void)
{
	struct profile p;

	if (!profile_of(getpid(), "", &p))
		return;
	for (uint32_t i = 0; i < stormed_count; i++)
		if (!CHECK(hash_of_handler(&p, stormed[i]) != 0) ||
		    !CHECK_U64(hash_of_handler(&p, stormed[i]), hash_of_handler(&p, stormed[0])))
			break;
	CHECK(stormed_count > STORM_SIGNALS / 4);
	profile_close(&p);
}

static void test_storm(void)
{
	struct itimerval often = {{0, 200}, {0, 200}};
	struct itimerval never = {{0, 0}, {0, 0}};
	wm_context want[8];
	uint32_t i, wrong = 0;

	for (i = 0; i < 8; i++)
		want[i] = descend(400 * (int)i, i);
	handled = 0;
	signal(SIGALRM, storm_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; handled < STORM_SIGNALS; i++)
		wrong += !push_same(descend(400 * (int)(i % 8), i % 8), want[i % 8]);
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK_U64(wrong, 0);
	CHECK(i > 8);
	check_stormed();
}

/* Handlers that log events while events are logged: chunks fill and change hands under both. */
static uint64_t logged_in_handler;

static void logging_handler(int sig)
{
	int i;

	(void)sig;
	for (i = 0; i < 50; i++)
		PUSHED(45, wm1_event(push_image.site_base + 1, "handler", logged_in_handler++));
	handled = handled + 1;
}

static void test_event_storm(void)
{
	struct itimerval often = {{0, 200}, {0, 200}};
	struct itimerval never = {{0, 0}, {0, 0}};
	uint64_t logged = 0, seen[2] = {0, 0};
	struct wmk_walk walk = {0};
	struct wmk_event event;
	struct profile p;

	handled = 0;
	signal(SIGALRM, logging_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < STORM_SIGNALS)
		PUSHED(46, wm1_event(push_image.site_base + 1, "main", logged++));
	setitimer(ITIMER_REAL, &never, NULL);
	if (!profile_of(getpid(), "", &p))
		return;
	while (wmk_next_event(&p.file, &walk, &event)) {
		int is_main = strcmp(wmk_find_string(&p.file, event.name), "main") == 0;

		if (!CHECK_U64(event.value, seen[is_main]))
			break;
		seen[is_main]++;
	}
	CHECK_U64(seen[1], logged);
	CHECK_U64(seen[0], logged_in_handler);
	CHECK_U64(p.file.header.dropped_events, 0);
	CHECK_U64(p.file.uncommitted, 0);
	profile_close(&p);
}

static jmp_buf foreign_env;
static sigjmp_buf foreign_sigenv;

static __attribute__((noinline)) void throw_deep(int n, int how)
{
	struct push kept;

	if (n == 0) {
		if (how == 0)
			longjmp(foreign_env, 1);
		if (how == 1)
			_longjmp(foreign_env, 1);
		if (how == 2)
			siglongjmp(foreign_sigenv, 1);
		raise(SIGUSR2);
	}
	kept = push_at(60 + (uint32_t)n % 3, wm1_thread_state.id, 5);
	throw_deep(n - 1, how);
	push_end(kept);
}

static void jumping_handler(int sig)
{
	(void)sig;
	PUSHED(70, siglongjmp(foreign_sigenv, 1));
}

/* Foreign code: no push, no restoring. It catches what its callback throws and then calls back again. */
static __attribute__((noinline)) wm_context foreign_catch(int how, int n)
{
	volatile int round = 0;

	if (how < 2)
		setjmp(foreign_env);
	else
		sigsetjmp(foreign_sigenv, 1);
	round = round + 1;
	if (round < 4)
		throw_deep(n, how);
	return here();
}

static void test_jumps(void)
{
	static char alt_stack[65536];
	stack_t alt = {.ss_sp = alt_stack, .ss_size = sizeof alt_stack};
	struct sigaction act = {.sa_handler = jumping_handler};
	static const int depths[] = {1, 2, 100, 2045, 2046, 2047, 5000};
	int how;
	size_t i;

	sigaction(SIGUSR2, &act, NULL);
	for (how = 0; how < 5; how++) {
		if (how == 4) {
			sigaltstack(&alt, NULL);
			act.sa_flags = SA_ONSTACK;
			sigaction(SIGUSR2, &act, NULL);
		}
		for (i = 0; i < sizeof depths / sizeof depths[0]; i++) {
			wm_context want, got;
			struct wm1_entry *top = wm1_thread_state.top;

			PUSHED(80, want = here());
			PUSHED(80, got = foreign_catch(how, depths[i]));
			if (!CHECK(push_same(want, got)))
				fprintf(stderr, "how %d, depth %d\n", how, depths[i]);
			CHECK(wm1_thread_state.top == top);
		}
	}
}

int main(void)
{
	test_root();
	test_storm();
	test_jumps();
	test_event_storm();
	return check_status();
}
