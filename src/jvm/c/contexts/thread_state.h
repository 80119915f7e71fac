/*
 * thread_state.h - what the fields that the agent has added to java.lang.Thread say of a thread's context, read from outside of Java.
 *
 * Reading takes no lock, runs no Java code and allocates no Java object, so it also works on a thread that is suspended anywhere. The
 * words that are pushed (contexts.h) are read when the context is made; who wants them as they were copies them first.
 */
#ifndef WM_JVM_THREAD_STATE_H
#define WM_JVM_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event.h"

struct JNINativeInterface_;
struct _jobject;

enum {
	JVM_THREAD_REFERENCES = 8, /* JNI's local references that the below leave behind */
};

struct jvm_thread_state {
	uint64_t word;          /* or the number of Lucce */
	uint64_t version;       /* of Lucce */
	int32_t site;           /* of Lucce; JVM_NONE: no call yet */
	uint32_t base;          /* of Lucce; 0: the calls stand on the root, else on that prefix */
	struct _jobject *root;  /* a local reference: what the calls stand on; NULL: that is not known */
	struct _jobject *words; /* a local reference; NULL: nothing is pushed */
	const int64_t *copy;    /* of the words; NULL: they are as they were when the state was read */
};

/* env: a JNIEnv. Once, before the others. False: the fields are not there. */
bool jvm_thread_state_init(const struct JNINativeInterface_ **env, bool is_lucce);
/* thread: a jthread, the running one or one that is suspended. */
void jvm_thread_state_read(const struct JNINativeInterface_ **env, struct _jobject *thread,
			   struct jvm_thread_state *ret);
/* May the last call be over, and its context left behind (java/dev/waymark/agent/SuperCalls.java)? */
bool jvm_thread_state_is_doubtful(const struct JNINativeInterface_ **env, const struct jvm_thread_state *state);
/* Is the thread in native code that is called through a thunk (native_code.h)? */
bool jvm_thread_state_is_native(const struct jvm_thread_state *state);
/* Copies the words to `copy`, which has room for SITECODE_LOST_INDEX. */
void jvm_thread_state_keep(const struct JNINativeInterface_ **env, struct jvm_thread_state *state, int64_t *copy);
/* The sites of the context, outermost first; malloc'd. The words are copied. NULL: it is lost, of Lucce, or there is no memory. */
int32_t *jvm_thread_state_sites(const struct jvm_thread_state *state, size_t *count);
/* Takes locks, and may run Java code. */
wm_context jvm_thread_state_context(const struct JNINativeInterface_ **env, const struct jvm_thread_state *state);

#endif
