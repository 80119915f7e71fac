/*
 * path_fork.c - a forked child counts in a file of its own from its first instruction on.
 *
 *      prepare   copies this thread's tables and single counts; blocks signals until the fork is over
 *      parent    forgets the copies
 *      child     makes its file; maps new space over the parent's, at the same addresses: TLS, registers and what is known
 *                of tables stay good; writes the records again, all counters 0; writes the copies, flagged as inherited
 *
 * The copies show which activations were begun before the fork and go on in the child. For the child's own children they
 * are added to what it counted since. Checks of pairs are kept: a handler that forks may have interrupted its thread between
 * the look at a check and the count.
 *
 * Tables of other threads are not the child's: their place becomes memory that nobody looks at.
 *
 * No lock is held over the fork, since the C library takes its own after our handler: another thread may hold those and wait
 * for ours. So the child finds other threads' work half-done, and goes by what its own thread did alone.
 *
 * A child that no handler is called for (a clone system call, _Fork) does the same when it next calls the runtime, without
 * inherited copies. What it counts until then is counted in the parent's tables.
 */
#include "runtime/paths/paths.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "recorder/file.h"
#include "recorder/mapping.h"
#include "runtime/paths/path_count.h"
#include "runtime/paths/path_space.h"
#include "runtime/paths/path_table.h"
#include "recorder/process.h"
#include "recorder/sys.h"

enum {
	COUNTS_UNITS = 4, /* of a chunk of counts */
	COUNTS_PER_CHUNK = (COUNTS_UNITS * WMK_UNIT_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_path_count),
};

/* Copies of a thread's records, in private memory: tables as in a PATHS chunk, in the order of the record's list; then single
 * counts, in the order of the tables. */
struct saved {
	size_t len_bytes; /* of all this */
	size_t tables_bytes;
	uint32_t count_count;
	uint32_t zero[3];
	char tables[];
};

/* Between prepare and the end of the fork, of the thread that forks. */
static _Thread_local struct {
	struct saved *saved;
	uint64_t signal_mask;
	bool is_forking;
} fork_now __attribute__((tls_model("initial-exec")));

/* Tables of the thread that this process began with; under the lock. */
static struct saved *inherited;

static struct wmk_path_count *counts_of(struct saved *s)
{
	return (struct wmk_path_count *)(void *)(s->tables + s->tables_bytes);
}

static size_t record_bytes(const struct wmk_paths *record)
{
	return wmrt_path_record_bytes(record->kind, record->entry_count);
}

/* The copy of one table: what its owner counted, over forks. Behind it are the table's words. */
static void table_save(const struct wmrt_path_table *table, struct wmk_paths *copy)
{
	uint64_t *words = (uint64_t *)(void *)(copy + 1);
	uint32_t stride = table->is.kind == WM1_PATHS_ARRAY ? 1 : 2;
	const uint64_t *more = table->adjust;
	uint32_t i;

	*copy = table->is;
	copy->flags |= WMK_PATHS_INHERITED;
	copy->state = 1;
	words[1] = 0;
	if (!more)
		return;
	words[0] += more[0];
	for (i = 0; i < copy->entry_count; i++)
		words[2 + i * stride + stride - 1] += more[2 + i * stride + stride - 1];
}

/* The thread's tables that its owner has entered. */
static struct wmrt_path_table *mine_from(struct wmrt_path_table *table, const struct wmrt_thread *thread)
{
	while (table && table->owner != atomic_load(&thread->owner))
		table = table->next_of_thread;
	return table;
}

static struct wmrt_path_table *first_of(struct wmrt_thread *thread)
{
	return mine_from(wmrt_path_thread(thread)->tables, thread);
}

static struct wmrt_path_table *next_of(const struct wmrt_path_table *table, const struct wmrt_thread *thread)
{
	return mine_from(table->next_of_thread, thread);
}

/* NULL without memory, or when the thread has no tables. */
static struct saved *save(struct wmrt_thread *thread)
{
	struct saved sizes = {.len_bytes = sizeof sizes};
	const struct wmrt_path_table *table;
	struct wmk_path_count *counts;
	struct saved *s;
	char *at;

	for (table = first_of(thread); table; table = next_of(table, thread)) {
		sizes.tables_bytes += record_bytes(&table->is);
		sizes.count_count += wmrt_path_counts_of(table);
	}
	if (!sizes.tables_bytes)
		return NULL;
	sizes.len_bytes += sizes.tables_bytes + sizes.count_count * sizeof *counts;
	s = wmrt_map_memory(sizes.len_bytes);
	if (!s)
		return NULL;
	*s = sizes;
	at = s->tables;
	counts = counts_of(s);
	for (table = first_of(thread); table; table = next_of(table, thread)) {
		size_t n = record_bytes(&table->is);

		memcpy(at, table->record, n);
		table_save(table, (struct wmk_paths *)(void *)at);
		counts = wmrt_path_counts_save(table, counts);
		at += n;
	}
	return s;
}

static void saved_free(struct saved *s)
{
	if (s)
		wmrt_unmap(s, s->len_bytes);
}

/* Leaves the record's list with those that its owner has entered. The others will be made again when they are needed. */
static void keep_mine(struct wmrt_thread *thread)
{
	struct wmrt_path_table **link = &wmrt_path_thread(thread)->tables;

	for (;;) {
		*link = mine_from(*link, thread);
		if (!*link)
			return;
		link = &(*link)->next_of_thread;
	}
}

/* The chunks in which the thread has something, before they are replaced. */
struct places {
	bool *is_kept;
	uint32_t hint;
};

static void keep(const void *place, void *arg)
{
	struct places *places = arg;

	places->is_kept[wmrt_path_space_chunk_of(place, &places->hint)] = true;
}

/* NULL without memory. */
static bool *chunks_of(const struct wmrt_path_thread *mine, uint32_t chunk_count)
{
	struct places places = {.is_kept = wmrt_map_memory(chunk_count)};
	const struct wmrt_path_table *table;

	for (table = mine->tables; table && places.is_kept; table = table->next_of_thread)
		keep(table->record, &places);
	for (table = mine->tables; table && places.is_kept; table = table->next_of_thread)
		wmrt_path_counts_places(table, keep, &places);
	return places.is_kept;
}

/* Fills the new space of the thread's tables. */
static void restore(struct wmrt_path_thread *mine, uint64_t owner, struct saved *s, bool is_inherited)
{
	const struct wmk_path_count *counts = counts_of(s);
	struct wmrt_path_table *table;
	char *at = s->tables;

	for (table = mine->tables; table; table = table->next_of_thread) {
		struct wmk_paths *copy = (struct wmk_paths *)(void *)at;

		wmrt_path_table_restore(table, copy);
		table->adjust = is_inherited ? (uint64_t *)(void *)(copy + 1) : NULL;
		table->owner = owner;
		counts = wmrt_path_counts_restore(table, counts, is_inherited);
		at += record_bytes(copy);
	}
}

/* There was no room: all of the thread's tables are `discard` from now on (their word 1 is 0). */
static void lose(struct wmrt_path_thread *mine)
{
	for (; mine->tables; mine->tables = mine->tables->next_of_thread) {
		wmrt_path_counts_forget(mine->tables);
		mine->discard_count++;
	}
}

static bool is_worth_writing(const struct wmk_paths *copy)
{
	const uint64_t *words = (const uint64_t *)(const void *)(copy + 1);

	return words[0] != 0 && !(copy->flags & WMK_PATHS_AT_ENTRY);
}

/* Into a piece of their own, which their children need not know. */
static void write_tables(const struct saved *s)
{
	struct wmk_chunk_header *chunk;
	size_t len_bytes = 0, units, off, n;
	uint32_t count = 0;
	char *to;

	for (off = 0; off < s->tables_bytes; off += n) {
		const struct wmk_paths *copy = (const struct wmk_paths *)(const void *)(s->tables + off);

		n = record_bytes(copy);
		if (!is_worth_writing(copy))
			continue;
		len_bytes += n;
		count++;
	}
	units = (len_bytes + WMK_CHUNK_HEADER_BYTES + WMK_UNIT_BYTES - 1) / WMK_UNIT_BYTES;
	if (!count)
		return;
	chunk = wmrt_file_chunk(WMK_PATHS, (uint32_t)units, 0, 0);
	for (; !chunk && count; count--)
		wmrt_file_drop(offsetof(struct wmk_header, dropped_path_tables));
	if (!chunk)
		return;
	to = wmrt_chunk_body(chunk);
	for (off = 0; off < s->tables_bytes; off += n) {
		const struct wmk_paths *copy = (const struct wmk_paths *)(const void *)(s->tables + off);

		n = record_bytes(copy);
		if (!is_worth_writing(copy))
			continue;
		memcpy(to, copy, n);
		to += n;
	}
	wmrt_chunk_raise_used(chunk, (uint32_t)len_bytes);
	wmrt_mapping_drop(chunk, units * WMK_UNIT_BYTES);
}

static void write_counts(struct saved *s)
{
	const struct wmk_path_count *count = counts_of(s);
	const struct wmk_path_count *end = count + s->count_count;
	struct wmk_chunk_header *chunk = NULL;
	uint32_t used = 0;

	for (; count < end; count++) {
		if (!count->count)
			continue;
		if (!chunk)
			chunk = wmrt_file_chunk(WMK_PATH_COUNTS, COUNTS_UNITS, 0, 0);
		if (!chunk) {
			wmrt_file_drop(offsetof(struct wmk_header, dropped_paths));
			continue;
		}
		((struct wmk_path_count *)(void *)wmrt_chunk_body(chunk))[used++] = *count;
		wmrt_chunk_raise_used(chunk, used * (uint32_t)sizeof *count);
		if (used == COUNTS_PER_CHUNK) {
			wmrt_mapping_drop(chunk, COUNTS_UNITS * WMK_UNIT_BYTES);
			chunk = NULL;
			used = 0;
		}
	}
	wmrt_mapping_drop(chunk, COUNTS_UNITS * WMK_UNIT_BYTES);
}

/* Moves the tables of a thread; s is NULL if it has none. */
static void move(struct wmrt_thread *thread, struct saved *s, uint32_t chunk_count, bool is_told)
{
	struct wmrt_path_thread *mine = wmrt_path_thread(thread);
	bool *is_kept;
	uint32_t i;

	keep_mine(thread);
	is_kept = s ? chunks_of(mine, chunk_count) : NULL;
	/* A new owner of the record, for it is of another process. */
	wmrt_thread_self();
	if (wmrt_path_space_renew(is_kept, chunk_count) && s)
		restore(mine, atomic_load(&thread->owner), s, is_told);
	else
		lose(mine);
	if (is_kept)
		wmrt_unmap(is_kept, chunk_count);
	mine->block_left_bytes = 0;
	mine->counts_left = 0;
	for (i = 0; i < mine->discard_count; i++)
		wmrt_file_drop(offsetof(struct wmk_header, dropped_path_tables));
	if (s && is_told && wmrt_file_header()) {
		write_tables(s);
		write_counts(s);
	}
}

/* In a child's new file, or where it can have none; under the lock. */
static void move_all(void)
{
	uint32_t chunk_count = wmrt_path_space_chunk_count();
	struct wmrt_thread *thread = wmrt_local.thread;
	bool is_told = fork_now.is_forking;
	struct saved *s;

	if (!chunk_count)
		return;
	if (!thread) {
		wmrt_path_space_renew(NULL, chunk_count);
		return;
	}
	s = is_told ? fork_now.saved : save(thread);
	move(thread, s, chunk_count, is_told);
	saved_free(inherited);
	inherited = is_told ? s : NULL;
	if (!is_told)
		saved_free(s);
	fork_now.saved = NULL;
}

/* A child makes its file at once if it has tables. */
static void after_fork(void)
{
	struct wmrt_guard guard;

	if (!wmrt_path_space_is_used() || wmrt_file_open())
		return;
	wmrt_lock(&guard);
	move_all();
	wmrt_unlock(&guard);
}

static void prepare(void)
{
	if (!wmrt_path_space_is_used())
		return;
	fork_now.signal_mask = wmrt_block_signals();
	fork_now.is_forking = true;
	fork_now.saved = wmrt_local.thread ? save(wmrt_local.thread) : NULL;
}

static void end(void)
{
	if (!fork_now.is_forking)
		return;
	fork_now.is_forking = false;
	wmrt_unblock_signals(fork_now.signal_mask);
}

static void in_parent(void)
{
	saved_free(fork_now.saved);
	fork_now.saved = NULL;
	end();
}

static void in_child(void)
{
	if (fork_now.is_forking) {
		wmrt_lock_after_fork();
		wmrt_check_fork();
	}
	end();
}

static void start(void)
{
	pthread_atfork(prepare, in_parent, in_child);
}

const struct wmrt_client wmrt_paths = {
	.slot = &wmrt_path_slot,
	.start = start,
	.begin_file = move_all,
	.after_fork = after_fork,
};
