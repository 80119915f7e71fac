/* token.h - a context as text. */
#ifndef WM_RECORDER_TOKEN_H
#define WM_RECORDER_TOKEN_H

#pragma GCC visibility push(default)
#include "waymark.h"
#pragma GCC visibility pop

/* As wm_token (waymark.h). Makes the process's file if there is none. Signal-safe. */
int wmrt_token(wm_context c, char *buf, size_t size);

#endif
