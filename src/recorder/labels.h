/*
 * labels.h - what a recording says of the process that no record does: where it ran, as what, and for whom.
 */
#ifndef WM_RECORDER_LABELS_H
#define WM_RECORDER_LABELS_H

#include "waymark/wmk.h"

/*
 * Those of WAYMARK_LABELS, lines KEY=VALUE, then of Waymark itself: name, host, rank, container, build-id, argv. What has no room is left
 * out, the arguments first. At the start of the process, once. The rest of `labels` is zero.
 */
void wmrt_labels_collect(char labels[WMK_LABELS_BYTES], const char *name, const char *rank);

#endif
