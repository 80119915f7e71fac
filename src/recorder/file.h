/*
 * file.h - the process's .wmk: its header and its chunks, mapped shared.
 *
 * The file is made at the first capture, or at whatever else there is to record first. Space is allocated before it is
 * mapped, so a full disk is an error here and not a SIGBUS in the program.
 */
#ifndef WM_RECORDER_FILE_H
#define WM_RECORDER_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/process.h"
#include "waymark/wmk.h"

enum wmrt_file_state {
	WMRT_FILE_NONE = 0,
	WMRT_FILE_OPEN,
	WMRT_FILE_FAILED,
};

/* What is asked with each record. Written by file.c alone, under the lock but for what a lost file makes of it. */
struct wmrt_file {
	_Atomic int state; /* enum wmrt_file_state */
	_Atomic(struct wmk_header *) header;
};
extern struct wmrt_file wmrt_file __attribute__((visibility("hidden")));

/* There is no file yet. */
bool wmrt_file_begin(void);

/* Makes the file if there is none. False: nothing can be recorded in this process. Takes the lock when there is work. */
static inline bool wmrt_file_open(void)
{
	int state;

	wmrt_check_fork();
	state = atomic_load_explicit(&wmrt_file.state, memory_order_acquire);
	return WMRT_LIKELY(state == WMRT_FILE_OPEN) || (state == WMRT_FILE_NONE && wmrt_file_begin());
}

/* Where it is; NULL when there is none. */
const char *wmrt_file_path(void);
/* It is there, and no fork is to be noticed first: as wmrt_file_open, but does nothing. */
static inline bool wmrt_file_is_open(void)
{
	return !wmrt_is_forked() && atomic_load_explicit(&wmrt_file.state, memory_order_acquire) == WMRT_FILE_OPEN;
}

/* The header's mapping, NULL when there is no file. No lock. */
static inline struct wmk_header *wmrt_file_header(void)
{
	return atomic_load_explicit(&wmrt_file.header, memory_order_acquire);
}

/*
 * A new chunk of so many units (WMK_UNIT_BYTES), mapped; NULL with no room (the reason is noted in the header). The caller holds the
 * lock and the file is open.
 */
struct wmk_chunk_header *wmrt_file_chunk(enum wmk_kind kind, uint32_t units, uint64_t first, uint32_t tid);
/* The same, but of no chunk that could be reclaimed. */
struct wmk_chunk_header *wmrt_file_chunk_new(enum wmk_kind kind, uint32_t units);
/* Where the last chunk that was made is in the file. */
uint64_t wmrt_file_last_off(void);
/* Maps a large chunk that is there already; NULL: it cannot be had. */
struct wmk_chunk_header *wmrt_file_map_large(uint64_t off);
/*
 * Who can do without a large chunk where there is no room for another: its header and an empty body of zeros, mapped; *ret_off: where it is in
 * the file. NULL: there is none. Under the lock.
 */
void wmrt_file_set_reclaim(struct wmk_chunk_header *(*give)(uint64_t *ret_off));
/* The same at a place, over what is there; NULL for anywhere. */
struct wmk_chunk_header *wmrt_file_chunk_at(enum wmk_kind kind, uint32_t units, void *at);
/*
 * In a forked child's new file: a chunk that takes the place of the parent's, with what the child knew of it. False:
 * the file had no room for it. copy NULL: memcpy. The caller holds the lock.
 */
bool wmrt_file_inherit(struct wmk_chunk_header *place, enum wmk_kind kind, uint32_t units, uint64_t first,
		       uint32_t used_bytes, void (*copy)(char *to, const char *from, uint32_t len_bytes));
/*
 * A chunk that needs no file: of the file if there is one, else private memory, which a new file takes over by
 * wmrt_file_inherit. NULL with no room: what comes before the file may take as much as the file. Under the lock.
 */
struct wmk_chunk_header *wmrt_file_chunk_or_memory(enum wmk_kind kind, uint32_t units, uint64_t first);
/*
 * In a forked child, before it appends to a chunk that it inherited: if it has no file yet, puts memory of its own in the chunk's
 * place, for the parent goes on in that. False without memory. Under the lock.
 */
bool wmrt_file_own(struct wmk_chunk_header *place, uint32_t units, uint64_t first, uint32_t used_bytes);
/*
 * There was no room for a chunk: none is looked for now, and after WAYMARK_LIMIT never again. No lock, no system call: who would
 * take the lock to ask for a chunk asks here first.
 */
bool wmrt_file_is_full(void);
bool wmrt_file_is_full_for_good(void);
/* Its pages are not to be had any more (mapping.h): nothing more is recorded. In a signal handler. */
void wmrt_file_lost(void);
/* The bytes of all chunks, in the file or before there is one. Under the lock, or nobody records. */
uint64_t wmrt_file_bytes(void);
/* Counts one thing that could not be recorded. counter: the offset of its uint64_t in struct wmk_header. No lock. */
void wmrt_file_drop(size_t counter);
/* Counts a missed program, in a forked child without a file in the file of its parent. No lock. */
void wmrt_file_count_missed(void);
/* The run number of this process; 0 when nothing can be recorded. */
uint64_t wmrt_file_run(void);
/* Raises used_bytes of a chunk to at least `used`. No lock. */
void wmrt_chunk_raise_used(struct wmk_chunk_header *chunk, uint32_t used);
/* The process ends: WMK_FLAG_CLOSED or WMK_FLAG_LEFT; WMK_FLAG_DETACHED or WMK_FLAG_FILTERED: it goes on without a recorder. */
void wmrt_file_close(uint32_t how);
/*
 * Around an exec. A forked child that has hardly recorded anything removes its file, and counts what was in it in its parent's; if the exec
 * fails, it begins a new one. Not in a child of vfork.
 */
void wmrt_file_exec_begins(void);
void wmrt_file_exec_failed(void);
/* Ends recording, in children too. Its owner has closed the file: what is written into it now is not lost, nor missed. */
void wmrt_seal(void);

static inline char *wmrt_chunk_body(struct wmk_chunk_header *chunk)
{
	return (char *)chunk + WMK_CHUNK_HEADER_BYTES;
}

#endif
