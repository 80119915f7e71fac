/*
 * crash_before_render.h - private to crash_*.c: what ran before (crash_before.h) in each format. Nothing where nothing is known, or
 * without r->activity.
 */
#ifndef WM_REPORT_CRASH_CRASH_BEFORE_RENDER_H
#define WM_REPORT_CRASH_CRASH_BEFORE_RENDER_H

#include "report/crash/crash_renderer.h"

/* Prints the calls before, for all frames of a thread, behind its stack. */
struct error *crash_before_text(const struct crash_report *r, const struct crash_thread *t, FILE *out);
/* Members of a frame's and of a function's object. */
struct error *crash_before_json(const struct crash_report *r, const struct crash_frame *f, FILE *out);
struct error *crash_before_function_json(const struct crash_report *r, uint32_t function, FILE *out);
/* Part of a frame's article. */
struct error *crash_before_html(const struct crash_report *r, const struct crash_frame *f, FILE *out);

#endif
