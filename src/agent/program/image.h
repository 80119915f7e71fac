/*
 * image.h - the ELF images of the process, as the agent sees them: found by address, never by walking the loader's list under its
 * lock. Each has its functions' ranges (.eh_frame), what scanning needs, and whether its code is instrumented.
 *
 * An image is listed when an address in it is first met, until the loader has unloaded it (loader.h). The caller of what lists or writes
 * holds the agent's lock; agent_image_at may be called anywhere. The structure stays: functions and records name it for ever.
 */
#ifndef WM_AGENT_IMAGE_H
#define WM_AGENT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/code/code.h"
#include "native/unwind/eh_frame.h"
#include "agent/scan/scan.h"
#include "agent/program/symbol_index.h"

/* Addresses in the texts that data holds (targets.h). */
struct targets {
	uint32_t *items; /* distances from the image's low, sorted */
	size_t count, capacity;
	bool are_read, are_unknown;
	/* While they are read: where that goes on. */
	uint64_t *bits; /* one for each byte of the text */
	size_t text, source, at;
};

enum agent_image_kind {
	AGENT_IMAGE_CODE = 1, /* its functions are instrumented */
	AGENT_IMAGE_FOREIGN,  /* libc, the loader: called, never changed but behind a call back */
	AGENT_IMAGE_OWN,      /* the agent */
};

struct agent_image {
	struct agent_image *next;
	uintptr_t low, high; /* all of it */
	const void *ehdr;
	uintptr_t bias; /* address less virtual address */
	const char *path;
	enum agent_image_kind kind;
	struct eh_table table;
	struct scan_image scan;
	struct scan_range *ranges; /* the texts, then the data: of scan */
	struct eh_text *texts;     /* of table */
	struct targets targets;    /* what data words point to in the texts */
	uint32_t bound;            /* so many entries of its PLT are bound (slots.c) */
	struct code_area *area;    /* NULL until code is written for it */
	uint32_t record;           /* of wmrt_code_image; UINT32_MAX until needed */
	uint64_t head;             /* hash of its first page: another file has another */
	uintptr_t runtime_low;     /* code of Waymark's runtime, [low, high): empty where there is none */
	uintptr_t runtime_high;
	uint32_t fork_number; /* its number among forked processes (fork_log.h); 0: none yet */
	bool is_gone;         /* unloaded */
	bool is_late;         /* loaded while the program ran: its file may be another one by the time of a report */
	struct symbol_index names; /* of a late one, once a function of it is recorded */
};

/* All images that are loaded now are not late. Once; the loader's list does not change meanwhile. False
 * without memory. */
bool agent_images_begin(void);

/* All that are listed, by next. Under the agent's lock. */
struct agent_image *agent_images_first(void);
/* The listed image at that address. NULL: none is listed, or it is gone. No lock, signal-safe. */
struct agent_image *agent_image_find(uintptr_t address);
/* The same, listed now if need be. NULL: no ELF image is there. */
struct agent_image *agent_image_at(uintptr_t address);
/* Is that code of the agent, in this image? Trampolines stand for the program's sites. image: NULL is none. */
bool agent_image_is_own(const struct agent_image *image, uintptr_t pc);
/* Where its stubs go, made if need be; NULL: there is no room within reach. Under the agent's lock. */
struct code_area *agent_image_area(struct agent_image *image);
/* The function's range that has the address. No lock. */
bool agent_image_function(const struct agent_image *image, uintptr_t address, struct eh_function *ret);
/* It is still mapped where it was, and stays so for as long as the others are stopped. Under the agent's lock. */
bool agent_image_is_there(const struct agent_image *image);
/* Images that are no longer mapped, or where another file is mapped now, are gone and no longer listed. Calls gone for each. */
void agent_image_sweep(void (*gone)(struct agent_image *image));

#endif
