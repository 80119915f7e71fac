/*
 * crash_values_render.h - private to crash_*.c: values of a crash in each format. All print nothing where there are none, or
 * r->values is NULL.
 */
#ifndef WM_REPORT_CRASH_CRASH_VALUES_RENDER_H
#define WM_REPORT_CRASH_CRASH_VALUES_RENDER_H

#include "report/crash/crash_renderer.h"

/* Lines below a frame's name, and below a thread's. */
struct error *crash_values_text(const struct crash_report *r, const struct crash_thread *t, const struct crash_frame *f,
				FILE *out);
void crash_values_thread_text(const struct crash_report *r, uint32_t thread, FILE *out);

/* Members of a frame's and of a thread's object. */
struct error *crash_values_json(const struct crash_report *r, const struct crash_thread *t, const struct crash_frame *f,
				FILE *out);
void crash_values_thread_json(const struct crash_report *r, uint32_t thread, FILE *out);

/* Parts of a frame's article; of a thread's stack. */
struct error *crash_values_html(const struct crash_report *r, const struct crash_thread *t, const struct crash_frame *f,
				FILE *out);
void crash_values_thread_html(const struct crash_report *r, uint32_t thread, FILE *out);

#endif
