/*
 * test_clients.c - the recorder alone, with clients of this test's own: it needs nothing of src/runtime, calls each client at its
 * time, and gives each one bytes of its own in every thread's record.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "recorder/client.h"
#include "recorder/file.h"
#include "recorder/thread.h"

enum {
	THREADS = 16,
	SMALL_BYTES = 1,
	ODD_BYTES = 13,
	LARGE_BYTES = 3 * 4096 + 7, /* a record of several pages */
	FLAG = 1 << 20,             /* no WMK_FLAG_* */
};

static struct wmrt_client_slot small = {.len_bytes = SMALL_BYTES};
static struct wmrt_client_slot odd = {.len_bytes = ODD_BYTES};
static struct wmrt_client_slot large = {.len_bytes = LARGE_BYTES};
static struct wmrt_client_slot *const slots[] = {&small, &odd, &large};
enum {
	SLOTS = sizeof slots / sizeof slots[0],
};

static int start_count, attach_count, begin_file_count, after_fork_count;

static void start(void)
{
	start_count++;
}

static void attach(void)
{
	attach_count += start_count;
}

static uint32_t header_flags(void)
{
	return FLAG;
}

static void begin_file(void)
{
	begin_file_count++;
}

static void after_fork(void)
{
	after_fork_count++;
}

static const struct wmrt_client first = {.slot = &small, .start = start, .header_flags = header_flags};
static const struct wmrt_client without = {.attach = attach, .begin_file = begin_file};
static const struct wmrt_client second = {.slot = &odd};
static const struct wmrt_client third = {.slot = &large, .after_fork = after_fork};

const struct wmrt_client *const wmrt_clients[] = {&first, &without, &second, &third, NULL};

static pthread_barrier_t barrier;
static struct wmrt_thread *records[THREADS];

static bool is_all(const unsigned char *bytes, size_t len_bytes, int value)
{
	size_t i;

	for (i = 0; i < len_bytes; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void fill(struct wmrt_thread *thread, int value)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		memset(wmrt_thread_slot(thread, slots[i]), value + i, slots[i]->len_bytes);
}

static bool is_filled(struct wmrt_thread *thread, int value)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (!is_all(wmrt_thread_slot(thread, slots[i]), slots[i]->len_bytes, value + i))
			return false;
	return true;
}

/* All at once: slots that shared a byte would show the other's value. */
static void *work(void *arg)
{
	uintptr_t t = (uintptr_t)arg;
	struct wmrt_thread *thread = wmrt_thread_self();
	struct wmrt_thread before;
	int i;

	records[t] = thread;
	for (i = 0; i < SLOTS; i++) {
		unsigned char *slot = wmrt_thread_slot(thread, slots[i]);

		if (!is_all(slot, slots[i]->len_bytes, 0) || (uintptr_t)slot % _Alignof(max_align_t) != 0)
			abort();
	}
	pthread_barrier_wait(&barrier);
	before = *thread;
	fill(thread, (int)(10 + t * SLOTS));
	pthread_barrier_wait(&barrier);
	if (!is_filled(thread, (int)(10 + t * SLOTS)) || thread->number != before.number ||
	    thread->owner != before.owner || wmrt_thread_self() != thread)
		abort();
	return NULL;
}

static void test_slots(void)
{
	pthread_t threads[THREADS];
	uintptr_t t, u;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, work, (void *)t);
	for (t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (t = 0; t < THREADS; t++)
		for (u = 0; u < t; u++)
			CHECK(records[t] != records[u]);
}

/* Takes the record of a dead thread over, with what is in it. */
static void *take_over(void *arg)
{
	struct wmrt_thread *thread = wmrt_thread_self();
	uintptr_t t;

	(void)arg;
	for (t = 0; t < THREADS; t++)
		if (records[t] == thread)
			return is_filled(thread, (int)(10 + t * SLOTS)) ? thread : NULL;
	return NULL;
}

static void test_take_over(void)
{
	pthread_t thread;
	void *found;

	pthread_create(&thread, NULL, take_over, NULL);
	pthread_join(thread, &found);
	CHECK(found != NULL);
}

static void test_calls(void)
{
	CHECK_U64(start_count, 1);
	CHECK_U64(attach_count, 1);
	CHECK_U64(begin_file_count, 0);
	if (!CHECK(wmrt_file_open()))
		return;
	CHECK_U64(begin_file_count, 1);
	CHECK_U64(wmrt_file_header()->flags, FLAG);
}

static void test_fork(void)
{
	struct wmrt_thread *thread = wmrt_thread_self();
	int status = 0;
	pid_t child;

	fill(thread, 200);
	child = fork();
	if (child == 0) {
		bool is_open = wmrt_file_open();

		_exit(is_open && after_fork_count == 1 && begin_file_count == 2 && wmrt_thread_self() == thread &&
				      is_filled(thread, 200)
			      ? 0
			      : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_U64(after_fork_count, 0);
}

int main(void)
{
	test_calls();
	test_slots();
	test_take_over();
	test_fork();
	return check_status();
}
