/* table.h - this copy of the recorder, as struct wm1_recorder has it. */
#ifndef WM_RECORDER_TABLE_H
#define WM_RECORDER_TABLE_H

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop
#include "waymark/recorder.h"

extern const struct wm1_recorder wmrt_recorder __attribute__((visibility("hidden")));

#endif
