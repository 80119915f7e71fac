/*
 * crash_values_render.h - private to crash_*.c: values of a crash in each format. Nothing is printed where there are none, or
 * r->values is NULL.
 */
#ifndef WM_REPORT_CRASH_CRASH_VALUES_RENDER_H
#define WM_REPORT_CRASH_CRASH_VALUES_RENDER_H

#include "report/crash/crash_renderer.h"

struct crash_values_format {
	struct error *(*frame)(const struct crash_report *r, const struct crash_frame *f,
			       const struct crash_frame_values *values, struct arena *arena, FILE *out);
	void (*wait)(const struct crash_values *v, uint32_t thread, FILE *out);
	void (*exception)(const struct snapshot_exception *e, FILE *out);
};

extern const struct crash_values_format crash_values_text, /* lines below the name of a frame or thread */
	crash_values_json,                                 /* members of its object */
	crash_values_html;                                 /* parts of a frame's article; of a thread's stack */

struct error *crash_values_frame(const struct crash_values_format *format, const struct crash_report *r,
				 const struct crash_thread *t, const struct crash_frame *f, FILE *out);
/* What the thread waits for, and its exception. */
void crash_values_thread(const struct crash_values_format *format, const struct crash_report *r, uint32_t thread,
			 FILE *out);

#endif
