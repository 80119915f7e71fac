/* thread_names.c - records sorted by thread and time; the last one up to a time is found by bisection. */
#include "model/contexts/thread_names.h"

#include <stdlib.h>

#include "base/order.h"

static int compare(const void *left, const void *right)
{
	const struct wmk_thread *a = left, *b = right;

	return compare_u64(a->tid, b->tid) ?: compare_u64(a->time_ns, b->time_ns);
}

struct error *thread_names_read(const struct wmk_file *w, struct thread_name_vec *ret)
{
	struct wmk_walk walk = {0};
	struct wmk_thread thread;
	struct error *err = NULL;

	while (!err && wmk_next_thread(w, &walk, &thread))
		err = thread_name_vec_append(ret, thread);
	if (!err && ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare);
	return err;
}

const char *thread_names_find(const struct thread_name_vec *names, const struct wmk_file *w, uint32_t tid,
			      uint64_t time_ns)
{
	const struct wmk_thread wanted = {.tid = tid, .time_ns = time_ns};
	size_t first = 0, end = names->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare(&names->items[middle], &wanted) <= 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first && names->items[first - 1].tid == tid ? wmk_find_string(w, names->items[first - 1].name) : NULL;
}
