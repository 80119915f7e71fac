/*
 * mapping.h - the process's shared mappings of recordings: its own and, in a forked child, those that it inherited.
 *
 * The kernel sends SIGBUS to who touches a page of a file that was truncated, or that its file system has no room for after all. The
 * mappings are known here by their pages, so that a handler (handlers.c) can tell such a fault from the program's own and repair it.
 *
 * All functions may be called at any time, in handlers too. None touches a mapping's contents.
 */
#ifndef WM_RECORDER_MAPPING_H
#define WM_RECORDER_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps that part of the file. at: over what is there; NULL: anywhere. NULL without memory. */
void *wmrt_mapping_new(void *at, size_t len_bytes, int fd, uint64_t off);
/* Unmaps it; nothing happens for NULL. */
void wmrt_mapping_drop(void *at, size_t len_bytes);
/* Moves pages, of a file or of memory, over others. */
void wmrt_mapping_move(void *from, void *to, size_t len_bytes);
/* Puts zeroed memory in the place of a mapping. */
void wmrt_mapping_clear(void *at, size_t len_bytes);
/*
 * After a SIGBUS at that address. True: it is in a mapping. Zeroed memory stands now in the place of every mapping, so that no other
 * thread meets the same, and the file is lost (wmrt_file_lost). False: the fault is none of ours.
 */
bool wmrt_mapping_repair(uintptr_t address);
/* Puts zeroed memory in the place of every mapping. */
void wmrt_mapping_clear_all(void);

#endif
