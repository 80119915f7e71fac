/*
 * recorder.h - what the active instance of the runtime does for libwaymark-sample.so: samples go into the recording of the program that
 * `waymark cc` built, beside its events.
 *
 * Every function is the recorder's own (src/recorder), with what that says of threads and signals.
 */
#ifndef WAYMARK_RECORDER_H
#define WAYMARK_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "runtime.h"
#include "wmk.h"

struct wm1_recorder {
	void (*check_fork)(void); /* before all others */
	/* Recorded code (recorder/code.h). */
	uint32_t (*image)(const void *ehdr, const char *path, enum wmk_image_kind kind);
	uint32_t (*function)(uint32_t image, uint64_t address, const char *name);
	uint32_t (*site)(uint32_t function, enum wmk_site_kind kind, uint32_t position, uint32_t flags,
			 const char *name);
	uint32_t (*intern)(uint32_t parent, uint32_t epoch, uint64_t id, uint32_t site, uint32_t run);
	void (*event)(struct wm_context c, const char *name, uint64_t value);
	struct wmk_event *(*event_of)(uint32_t tid, struct wm_context c, const char *name, uint64_t value);
	int (*token)(struct wm_context c, char *buf, size_t size);
	struct wmk_header *(*header)(void); /* NULL: there is no file */
	void (*drop)(size_t counter);       /* the offset of its uint64_t in struct wmk_header */
	void (*own_files)(void); /* this thread's descriptors are not the process's; a recording has been begun */
};

/* Of the active instance, wherever it is. A program that has a runtime without it is not sampled. */
WM1_EXPORT const struct wm1_recorder *wm1_recorder(void) __attribute__((weak));

#endif
