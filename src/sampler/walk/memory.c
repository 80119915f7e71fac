/* memory.c - reads by process_vm_readv, and keeps windows of what it has read by their address. */
#include "sampler/walk/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "native/maps.h"
#include "recorder/sys.h"

enum {
	RECENT_WALKS = 4, /* what they have used is likely to be used again */
	WAYS = 4,         /* places that a window may be in */
};

static bool is_forbidden;

void memory_start(void)
{
	const char *filters = getenv("WAYMARK_SECCOMP");

	is_forbidden = filters && strtoul(filters, NULL, 10) > 0;
}

/* The bytes that were read, of which those of a part are all or none. */
static size_t read_parts(const struct iovec *targets, const struct iovec *sources, size_t count)
{
	long n = is_forbidden ? 0
			      : wmrt_sys6(SYS_process_vm_readv, wmrt_getpid(), (long)targets, (long)count,
					  (long)sources, (long)count, 0);

	return n > 0 ? (size_t)n : 0;
}

bool memory_read(uintptr_t from, void *to, size_t len_bytes)
{
	const struct iovec target = {to, len_bytes},
			   source = {(void *)from, len_bytes}; /* NOLINT(performance-no-int-to-ptr) */

	return read_parts(&target, &source, 1) == len_bytes;
}

void memory_forget(struct memory_windows *w)
{
	w->walk++;
}

/* Reads what the last walks have used. What cannot be read ends it: the windows behind that one stay stale. */
static void renew(struct memory_windows *w)
{
	struct iovec targets[MEMORY_WINDOWS], sources[MEMORY_WINDOWS];
	uint8_t places[MEMORY_WINDOWS];
	size_t count = 0, len;

	w->renewed = w->walk;
	for (size_t i = 0; i < MEMORY_WINDOWS; i++) {
		if (!w->windows[i].at || w->windows[i].read == w->walk || w->walk - w->windows[i].used > RECENT_WALKS)
			continue;
		places[count] = (uint8_t)i;
		targets[count] = (struct iovec){w->bytes[i], MEMORY_WINDOW_BYTES};
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		sources[count++] = (struct iovec){(void *)w->windows[i].at, MEMORY_WINDOW_BYTES};
	}
	len = read_parts(targets, sources, count);
	for (size_t k = 0; k < len / MEMORY_WINDOW_BYTES; k++)
		w->windows[places[k]].read = w->walk;
}

/* Where the window is; otherwise the place of which the use is longest ago. */
static size_t place_of(const struct memory_windows *w, uintptr_t at)
{
	/* Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
	const size_t first =
		(size_t)(at / MEMORY_WINDOW_BYTES * 0x9e3779b97f4a7c15U >> 32) % (MEMORY_WINDOWS / WAYS) * WAYS;
	size_t ret = first;

	for (size_t i = first; i < first + WAYS; i++) {
		if (w->windows[i].at == at)
			return i;
		if (w->windows[i].used < w->windows[ret].used)
			ret = i;
	}
	return ret;
}

/* A window is in one page: it can be read as a whole or not at all. */
static const uint8_t *window_at(struct memory_windows *w, uintptr_t at)
{
	size_t i;

	if (at < MAPS_LOWEST)
		return NULL;
	i = place_of(w, at);
	if (w->windows[i].at == at && w->windows[i].read != w->walk && w->renewed != w->walk)
		renew(w);
	if (w->windows[i].at != at || w->windows[i].read != w->walk) {
		w->windows[i].at = 0;
		if (!memory_read(at, w->bytes[i], MEMORY_WINDOW_BYTES))
			return NULL;
		w->windows[i].at = at;
		w->windows[i].read = w->walk;
	}
	w->windows[i].used = w->walk;
	return w->bytes[i];
}

size_t memory_copy(struct memory_windows *w, uintptr_t from, uint8_t *to, size_t len_bytes)
{
	size_t len = 0;

	while (len < len_bytes) {
		size_t off = (from + len) % MEMORY_WINDOW_BYTES, part = MEMORY_WINDOW_BYTES - off;
		const uint8_t *bytes = window_at(w, from + len - off);

		if (!bytes)
			break;
		if (part > len_bytes - len)
			part = len_bytes - len;
		memcpy(to + len, bytes + off, part);
		len += part;
	}
	return len;
}
