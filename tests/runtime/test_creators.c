/*
 * test_creators.c - what threads stand on: the prefix of the context in which they were created. By hand, without the
 * instrumenter; not under sanitizers, whose pthread_create comes first.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include "profile.h"
#include "push.h"

enum {
	DEEP = 10000,
};

static wm_context here(void)
{
	return wm1_capture(push_image.site_base + 1);
}

static void *capture_here(void *arg)
{
	*(wm_context *)arg = here();
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void run_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	CHECK_U64((uint64_t)pthread_create(&thread, NULL, run, arg), 0);
	pthread_join(thread, NULL);
}

/* Captured in a thread that is created above n pushes, the last `same` of them alike. */
static wm_context created_at(uint32_t site, int n, int same)
{
	wm_context got = {0};

	if (n > same)
		PUSHED(site, got = created_at(site + 1, n - 1, same));
	else if (n)
		PUSHED(site, got = created_at(site, n - 1, n - 1));
	else
		PUSHED(300, run_thread(capture_here, &got));
	return got;
}

static void check_node(const struct profile *p, uint32_t prefix, uint32_t parent, uint32_t site, uint32_t run)
{
	struct wmk_node node;

	if (!CHECK(wmk_find_node(&p->file, prefix, &node)))
		return;
	CHECK_U64(node.parent, parent);
	CHECK_U64(node.site, site);
	CHECK_U64(node.run, run);
	CHECK_U64(node.id, 0);
}

/* A thread node, on the pushes of its creator, on its root. */
static void test_creator(void)
{
	wm_context a = created_at(310, 2, 0), b = created_at(310, 2, 0), c = created_at(311, 2, 0);
	wm_context long_run = created_at(320, 5, 4);
	struct wmk_node node, below;
	struct profile p;

	CHECK(push_same(a, b));
	CHECK(!push_same(a, c));
	CHECK_U64(a.id, 0);
	if (!profile_of(getpid(), "", &p))
		return;
	check_node(&p, a.prefix, a.prefix - 1, WM_SITE_THREAD, 1);
	check_node(&p, a.prefix - 1, a.prefix - 2, push_image.site_base + 300, 1);
	check_node(&p, a.prefix - 2, a.prefix - 3, push_image.site_base + 311, 1);
	check_node(&p, a.prefix - 3, WM_PREFIX_PROCESS, push_image.site_base + 310, 1);
	if (CHECK(wmk_find_node(&p.file, long_run.prefix, &node)) &&
	    CHECK(wmk_find_node(&p.file, node.parent, &node)) && CHECK(wmk_find_node(&p.file, node.parent, &below)))
		CHECK_U64(below.run, 4);
	profile_close(&p);
}

static void *create_next(void *arg);
static uint32_t levels_left = DEEP;
static wm_context deepest;
static sem_t is_deep;

static void create_one(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (pthread_create(&thread, &attr, create_next, NULL) != 0)
		sched_yield();
	pthread_attr_destroy(&attr);
}

/* Each thread creates the next one and ends. Nothing is captured before the last. */
static void *create_next(void *arg)
{
	if (--levels_left) {
		PUSHED(330, create_one());
	} else {
		deepest = here();
		sem_post(&is_deep);
	}
	return arg;
}

static void test_deep(void)
{
	struct wmk_node node;
	struct profile p;
	uint32_t prefix, threads = 0;

	sem_init(&is_deep, 0, 0);
	PUSHED(331, create_one());
	while (sem_wait(&is_deep))
		;
	if (!profile_of(getpid(), "", &p))
		return;
	for (prefix = deepest.prefix; prefix >= WM_PREFIX_FIRST; prefix = node.parent) {
		if (!CHECK(wmk_find_node(&p.file, prefix, &node)))
			break;
		threads += node.site == WM_SITE_THREAD;
	}
	CHECK_U64(prefix, WM_PREFIX_PROCESS);
	CHECK_U64(threads, DEEP);
	profile_close(&p);
}

/* Threads of a program that has captured nothing: it makes no recording; and those that live on know their creator. */
static void *wait_then_capture(void *arg)
{
	while (sem_wait(&is_deep))
		;
	return capture_here(arg);
}

static void test_no_recording(void)
{
	char path[512];
	pthread_t thread;
	wm_context early = {0}, late = {0};
	int i;

	sem_init(&is_deep, 0, 0);
	PUSHED(340, pthread_create(&thread, NULL, wait_then_capture, &early));
	for (i = 0; i < 100; i++)
		PUSHED(341, run_thread(nothing, NULL));
	CHECK(!profile_path(getpid(), "", path));
	sem_post(&is_deep);
	pthread_join(thread, NULL);
	PUSHED(340, run_thread(capture_here, &late));
	CHECK(early.prefix >= WM_PREFIX_FIRST);
	CHECK(push_same(early, late));
	CHECK(profile_path(getpid(), "", path));
}

int main(void)
{
	test_no_recording();
	test_creator();
	test_deep();
	return check_status();
}
