/* thread_name.c - appends to one chunk, under the recorder's lock. */
#include "recorder/thread_name.h"

#include <errno.h>
#include <stdbool.h>

#include "recorder/chunkdir.h"
#include "recorder/clock.h"
#include "recorder/file.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/strtab.h"
#include "recorder/sys.h"

/* Under the lock. What is used of the chunk is not read from the file. */
static struct wmk_chunk_header *chunk;
static uint32_t used_bytes;
static uint32_t units;      /* that the chunk has */
static uint32_t generation; /* that of another one: the chunk is the parent's */

static bool has_room(void)
{
	return chunk && generation == wmrt_process.generation &&
	       used_bytes + sizeof(struct wmk_thread) <= wmrt_body_bytes(units);
}

/* A place for one record; NULL with no room. */
static struct wmk_thread *claim(void)
{
	struct wmk_thread *ret;

	if (!has_room()) {
		wmrt_mapping_drop(chunk, (size_t)units * WMK_UNIT_BYTES);
		units = chunk && generation == wmrt_process.generation ? WMRT_UNITS_MAX : 1;
		chunk = wmrt_file_chunk(WMK_THREADS, units, 0, 0);
		generation = wmrt_process.generation;
		used_bytes = 0;
	}
	if (!chunk)
		return NULL;
	ret = (struct wmk_thread *)(void *)(wmrt_chunk_body(chunk) + used_bytes);
	used_bytes += (uint32_t)sizeof *ret;
	wmrt_chunk_raise_used(chunk, used_bytes);
	return ret;
}

void wmrt_thread_name(uint32_t tid, const char *name)
{
	struct wmk_thread *thread;
	struct wmrt_guard guard;
	uint32_t string;
	uint64_t now_ns;
	int saved = errno;

	if (!wmrt_file_open())
		return;
	now_ns = wmrt_now_ns();
	wmrt_lock(&guard);
	string = wmrt_string_locked(name);
	thread = string == WMRT_STRING_NONE ? NULL : claim();
	if (thread) {
		thread->time_ns = now_ns;
		thread->tid = tid;
		thread->name = string;
		__atomic_store_n(&thread->state, 1, __ATOMIC_RELEASE);
	}
	wmrt_unlock(&guard);
	errno = saved;
}
