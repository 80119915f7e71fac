/*
 * contexts.h - calls of Java threads become contexts of the recorder.
 *
 * Words (sitecode.h). A thread has the words that it has pushed and, for as many of them as were looked at before, what they stand for: so a
 * capture works on the last word and on what was pushed since. Both are kept in Java (ContextStack), which has threads without a thread of
 * the system.
 *
 * Any thread. Not for signal handlers.
 */
#ifndef WM_JVM_CONTEXTS_H
#define WM_JVM_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/contexts/sitecode.h"
#include "recorder/event.h"
#include "waymark/abi.h"

/* The calls up to the last one of a pushed word: `run` times `site` above the prefix `below`. Equal calls in a row are one entry. */
struct jvm_calls {
	uint32_t prefix; /* of all of it; WM_PREFIX_LOST if it cannot be recorded */
	uint32_t below;
	int32_t site;
	uint32_t run; /* 0: no call; prefix is the root */
};

struct jvm_calls jvm_calls_of_root(uint32_t root);
/* calls, and those of the word above them. A word without a space is the prefix of native code, and is what is above it stands on. */
struct jvm_calls jvm_calls_add(struct jvm_calls calls, uint64_t word);
/* The context of a thread that has stored the word last, above `calls`. Its last call may be that of the capture itself. */
wm_context jvm_context(struct jvm_calls calls, uint64_t word);
/* The context of calls above a root, outermost first; the last one may be that of the capture itself. */
wm_context jvm_context_of_sites(uint32_t root, const int32_t *sites, size_t count);
/* The prefix of calls above another one. */
uint32_t jvm_prefix(uint32_t below, const int32_t *sites, size_t count);
/* The prefix that the contexts of a thread stand on which was started by the calls. WM_PREFIX_THREAD if it cannot be recorded. */
uint32_t jvm_thread_root(uint32_t starter, const int32_t *sites, size_t count);
/* The calls of a word, outermost first; returns how many, at most SITECODE_MAX_CALLS. SITECODE_MAX_CALLS + 1: it is no word. */
size_t jvm_word_calls(uint64_t word, int32_t sites[SITECODE_MAX_CALLS]);

#endif
