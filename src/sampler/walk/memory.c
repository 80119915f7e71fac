/* memory.c - reads by process_vm_readv, and keeps windows of code by their address. */
#include "sampler/walk/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "recorder/sys.h"

static bool is_forbidden;

void memory_start(void)
{
	const char *filters = getenv("WAYMARK_SECCOMP");

	is_forbidden = filters && strtoul(filters, NULL, 10) > 0;
}

bool memory_read(uintptr_t from, void *to, size_t len_bytes)
{
	struct iovec target = {to, len_bytes},
		     source = {(void *)from, len_bytes}; /* NOLINT(performance-no-int-to-ptr) */

	return !is_forbidden &&
	       wmrt_sys6(SYS_process_vm_readv, wmrt_getpid(), (long)&target, 1, (long)&source, 1, 0) == (long)len_bytes;
}

void memory_forget(struct memory_windows *w)
{
	memset(w->at, 0, sizeof w->at);
}

/* A window is in one page: it can be read as a whole or not at all. */
static const uint8_t *window_at(struct memory_windows *w, uintptr_t at)
{
	size_t i = at / MEMORY_WINDOW_BYTES % MEMORY_WINDOWS;

	if (w->at[i] == at)
		return w->bytes[i];
	w->at[i] = 0;
	if (!at || !memory_read(at, w->bytes[i], MEMORY_WINDOW_BYTES))
		return NULL;
	w->at[i] = at;
	return w->bytes[i];
}

size_t memory_code(struct memory_windows *w, uintptr_t from, uint8_t *to, size_t len_bytes)
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
