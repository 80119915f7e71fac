/*
 * thread_names.h - the names that a recording has of its threads: a thread may be renamed, and its number come back for another one.
 */
#ifndef WM_MODEL_CONTEXTS_THREAD_NAMES_H
#define WM_MODEL_CONTEXTS_THREAD_NAMES_H

#include "base/error.h"
#include "base/vec.h"
#include "format/wmk.h"

VEC_DECLARE(thread_name_vec, struct wmk_thread);

/* *ret: zero before; freed with thread_name_vec_deinit. */
struct error *thread_names_read(const struct wmk_file *w, struct thread_name_vec *ret);
/* The name of the thread at that time, which belongs to the file; NULL: it has none. */
const char *thread_names_find(const struct thread_name_vec *names, const struct wmk_file *w, uint32_t tid,
			      uint64_t time_ns);

#endif
