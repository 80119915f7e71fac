/*
 * path_table.h - the tables of path counters: one for each function and thread, in PATHS chunks of the file.
 *
 * A table belongs to a thread's record (struct wmrt_thread): a thread that takes over a dead thread's record goes on counting
 * in its tables, so that many short threads need no more tables than as many as were alive at once.
 */
#ifndef WM_RUNTIME_PATHS_PATH_TABLE_H
#define WM_RUNTIME_PATHS_PATH_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/thread.h"
#include "waymark/paths.h"
#include "waymark/wmk.h"

/* The runtime's record of one table, in private memory, never freed. Writer: the record's owner, signals blocked; but
 * for the records in `cache`, which a lookup puts there. */
struct wmrt_path_table {
	struct wmk_paths *record; /* in the file; the words follow it. Word 1 is the table's number. */
	struct wmk_paths is;      /* what the record was filled with: nothing is read from that */
	struct wmrt_path_table *next_of_thread;
	struct wmrt_path_table *next_of_bundle;
	uint64_t bundle;                  /* hash of all that are in it, 0: none */
	struct wmrt_path_cache *cache;    /* never NULL */
	struct wmrt_path_entry *overflow; /* counts of single paths */
	/* As many words as the table has, NULL: all 0. The table's and these together are what the owner counted, over forks:
	 * they have what it inherited, less what earlier owners counted. */
	uint64_t *adjust;
	uint64_t owner; /* wmrt_thread's, of the thread that adjust and overflow are right for */
	uint32_t thread;
	uint32_t number;
};

static inline uint64_t *wmrt_path_words(const struct wmrt_path_table *table)
{
	return (uint64_t *)(void *)(table->record + 1);
}

/* One instruction: a handler on this thread may count here too. */
static inline void wmrt_path_count(uint64_t *counter)
{
	__asm__ volatile("incq %0" : "+m"(*counter));
}

enum {
	WMRT_PATH_TABLES_PER_PAGE = 1024,
	WMRT_PATH_PAGES = 4096,
};

/* Tables by number: from 1. Pages are added under the lock. */
extern _Atomic(struct wmrt_path_table *) wmrt_path_pages[WMRT_PATH_PAGES] __attribute__((visibility("hidden")));

/* The table with those words; NULL for words that are no table's. What word 1 says is not believed. */
static inline struct wmrt_path_table *wmrt_path_table_of(const uint64_t *words)
{
	uint64_t number = words[1];
	struct wmrt_path_table *page =
		number && number < (uint64_t)WMRT_PATH_PAGES * WMRT_PATH_TABLES_PER_PAGE
			? atomic_load_explicit(&wmrt_path_pages[number / WMRT_PATH_TABLES_PER_PAGE],
					       memory_order_acquire)
			: NULL;
	struct wmrt_path_table *table = page ? &page[number % WMRT_PATH_TABLES_PER_PAGE] : NULL;

	return table && (const void *)(table->record + 1) == words ? table : NULL;
}

/* Bytes in a chunk of a table with its record, a multiple of 16. */
size_t wmrt_path_record_bytes(uint8_t kind, uint32_t entry_count);
/* The thread's table of that function, NULL if there is none yet (or it must be looked for under the lock). No lock. */
struct wmrt_path_table *wmrt_path_table_find(const struct wm1_path_function *function, struct wmrt_thread *thread);
/* Finds the table, or makes it and those of the functions that follow in the bundle; NULL without room. Under the lock; the file is open. */
struct wmrt_path_table *wmrt_path_table_make(const struct wm1_path_function *function, struct wmrt_thread *thread);
/* The table of an earlier owner of the record becomes this one's, with its bundle: all or, for handlers, none. */
void wmrt_path_table_adopt(struct wmrt_path_table *table, uint64_t owner);
/* In a forked child, under the lock: the record of the table again, all counters 0, and what word 1 says; of pairs, with the
 * checks of `saved`, a copy of it. */
void wmrt_path_table_restore(struct wmrt_path_table *table, const struct wmk_paths *saved);

#endif
