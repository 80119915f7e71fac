/*
 * ticker.h - a thread of the agent's that does something a number of times a second, mostly looks at the threads of the program.
 */
#ifndef WM_JVM_TICKER_H
#define WM_JVM_TICKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jobject;

/* All zero but for `name` and one of the functions before it begins; never freed. */
struct jvm_ticker {
	const char *name; /* of the thread, a daemon that the program sees among its threads */
	/* At one thread of the program, with room for local references. */
	void (*look_at)(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
			struct _jobject *thread);
	/* In its place: once in each period. */
	void (*tick)(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env);
	int64_t period_ns;
	pthread_mutex_t lock; /* held while it does what it does */
	bool is_over;         /* under the lock */
	bool is_there;        /* under the lock: the thread */
};

/* hz: looks a second, at each thread. In phase live, and again behind jvm_ticker_end. False: there is no such thread. */
bool jvm_ticker_begin(struct jvm_ticker *ticker, const struct jvmtiInterface_1_ **jvmti,
		      const struct JNINativeInterface_ **env, int32_t hz);
/* Is it the thread of any ticker? */
bool jvm_ticker_has(const struct JNINativeInterface_ **env, struct _jobject *thread);
/* Looks at all threads once, in the calling thread. */
void jvm_ticker_look(struct jvm_ticker *ticker, const struct jvmtiInterface_1_ **jvmti,
		     const struct JNINativeInterface_ **env);
/* Waits until the thread does not look any more. */
void jvm_ticker_end(struct jvm_ticker *ticker);

#endif
