/*
 * code.h - appends the records of recorded code (docs/format.md, "Recorded code"): images, functions, sites and the encoding of
 * each epoch, for agents in programs that Waymark did not build.
 *
 * Numbers mean the same for the life of the process and, as far as they were given before the fork, in its forked children;
 * each goes on by itself then. Nothing is looked up or given twice but images: who calls remembers the numbers.
 *
 * The records need no file. Before there is one they are kept in private memory, at most as much as the file may take
 * (WAYMARK_LIMIT), and the file gets them when the first capture makes it, behind its images and prefixes; so a process that
 * records nothing leaves no file. That costs what copying them costs: 10 MB, 300,000 calls, are some 10 ms in that capture.
 * A forked child's file gets what the child inherited in the same way. From then on records go straight into the file.
 *
 * Failure: no room, or nothing is recorded in this process. The function says so by its result, the header's dropped_code counts
 * it, and nothing is appended any more, neither here nor in children, so that no record refers to one that is missing. (An
 * argument that is itself the result of a failure is a failure, too.) Captures at sites without a record are decoded as unknown;
 * so are those of an epoch of which a record is missing, for its commit says how many there are.
 *
 * Threads and signals: one thread at a time calls these, under a lock of the caller's, and not from a signal handler. Each call
 * takes the recorder's lock with all signals blocked (process.h), so other threads and handlers may capture at any time, and the
 * caller must not have stopped a thread that may hold that lock: take it with wmrt_code_begin before stopping threads. No malloc;
 * errno is kept.
 */
#ifndef WM_RECORDER_CODE_H
#define WM_RECORDER_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "waymark/wmk.h"

#define WMRT_CODE_NO_IMAGE UINT32_MAX

/*
 * Between the two the recorder's lock is held and all signals are blocked: the calls below take neither, about 10 ns each rather
 * than 300. Threads that need a new chunk or string wait. Nothing else of the recorder may be called between them.
 */
void wmrt_code_begin(void);
void wmrt_code_end(void);

/*
 * The record number of an image; the number it has already where the kind, the build id, the path and the address are known.
 * ehdr: its ELF header in memory, its load address; NULL: code at absolute addresses, or without any. path: copied, cut at 4095
 * bytes, of a binary made absolute; NULL: the program's or the dynamic linker's. kind: not WMK_IMAGE_SECTION. WMRT_CODE_NO_IMAGE on failure.
 */
uint32_t wmrt_code_image(const void *ehdr, const char *path, enum wmk_image_kind kind);
/* A new function at `address`, less the image's load address. name: copied; NULL: none, readers look for a symbol. 0 on failure. */
uint32_t wmrt_code_function(uint32_t image, uint64_t address, const char *name);
/* A new site of the process. position: offset from the function's address. flags: WMK_SITE_TAIL. name: the callee's, of
 * WMK_SITE_FOREIGN; of WMK_SITE_INDIRECT the declared one, if there is one. 0 on failure. */
uint32_t wmrt_code_site(uint32_t function, enum wmk_site_kind kind, uint32_t position, uint32_t flags,
			const char *name);
/* A method of a virtual machine; strings are copied and may be NULL, but for name. */
struct wmrt_method {
	const char *name;
	const char *owner; /* its class, with dots */
	const char *descriptor;
	const char *file;
	uint32_t line; /* 0: not known */
};
/* wmrt_code_function of a method; image: of a class loader. */
uint32_t wmrt_code_method(uint32_t image, const struct wmrt_method *method);
/* Replaces what is recorded of a method, or of another function, whose name was not known yet. False: the strings find no room. */
bool wmrt_code_method_renew(uint32_t function, uint32_t image, const struct wmrt_method *method);
/* wmrt_code_site of a method. position: bytecode index. line: 0 if it is not known. */
uint32_t wmrt_code_method_site(uint32_t method, enum wmk_site_kind kind, uint32_t position, uint32_t line,
			       const char *name);
/* Sets the line of a site of a method, which was not known yet. */
void wmrt_code_site_set_line(uint32_t site, uint32_t line);
/* A function of an epoch, once an epoch. contexts: numCC, at least 1. flags: enum wmk_epoch_function_flag. */
bool wmrt_code_epoch_function(uint32_t epoch, uint32_t function, uint64_t contexts, uint64_t restart, uint32_t flags);
/* A call of an epoch, once for each (site, callee) of it; both functions are in the epoch before. */
bool wmrt_code_epoch_edge(uint32_t epoch, uint32_t site, uint32_t callee, enum wmk_edge_kind kind, uint64_t addend);
/*
 * The dictionary of the epoch is complete: it has so many functions and calls, those that failed included. To be called before
 * the first capture in the epoch. Agents count epochs from 1: 0 is that of compiled code. Functions that no encoded call reaches
 * and calls that push may be added later.
 */
bool wmrt_code_epoch_commit(uint32_t epoch, uint32_t function_count, uint32_t edge_count);
/*
 * The same of a dictionary by ranks and difference: its functions have no numbers (0, 0), the addends of its calls are ranks
 * (core/contexts/callgraph_ranks.h), and what it does not have is as in the dictionary of the epoch `base`, which is by ranks, too; 0: none.
 */
bool wmrt_code_epoch_commit_ranks(uint32_t epoch, uint32_t base, uint32_t function_count, uint32_t edge_count);

#endif
