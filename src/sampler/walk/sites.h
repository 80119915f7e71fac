/*
 * sites.h - the recorded sites of frames. A site is recorded when it is met first: a function by where its FDE begins, and the place in it. Its number
 * is found by image and address, without a lock.
 *
 * For signal handlers that run with all signals blocked.
 */
#ifndef WM_SAMPLER_SITES_H
#define WM_SAMPLER_SITES_H

#include <stdint.h>

#include "sampler/walk/walk.h"
#include "waymark/wmk.h"

struct wm1_recorder;

/* What they are recorded in. Before the others. */
void sites_init(const struct wm1_recorder *recorder);
/*
 * Of a frame that has called, the address is that of the call's last byte. name: WMK_SITE_FOREIGN: what is called, a constant string; else NULL.
 * 0: the recording has no room.
 */
uint32_t sites_of_frame(const struct walk_frame *frame, enum wmk_site_kind kind, const char *name);
/* In a forked child: another thread may have had the lock. */
void sites_after_fork(void);

#endif
