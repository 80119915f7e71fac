/*
 * event.h - an event of the virtual machine, in the thread that has raised it: its context, and what an event of our own is.
 *
 * Callbacks run in the middle of a method. They run Java code, for which the thread may be short of stack, only to compare, and where a context
 * is doubtful.
 */
#ifndef WM_JVM_EVENT_H
#define WM_JVM_EVENT_H

#include <stdbool.h>

#include "recorder/event.h"

struct JNINativeInterface_;
struct _jobject;

/* How the oracle compares an event, with check. */
enum jvm_event_check {
	JVM_CHECK_EVENT,
	JVM_CHECK_CONTENTION, /* a synchronized method may have a frame already, whose context is its caller's */
	JVM_CHECK_NOT,
};

/*
 * Makes the context of the running thread, which is not a signal handler's. The clients are paused. Which one there is the agent chooses at
 * its start: by words (jvm_event_use_words), or by a walk of the stack (walk/walk.h).
 */
typedef wm_context jvm_event_maker(const struct JNINativeInterface_ **env, struct _jobject *thread,
				   enum jvm_event_check check, struct _jobject *class);
/* Once, before the first event. */
void jvm_event_use(jvm_event_maker *make);
/* In the place of jvm_event_use, after jvm_thread_state_init. False: the agent's classes are of another version. */
bool jvm_event_use_words(const struct JNINativeInterface_ **env, bool is_checked);
/* False: the event is our own, nothing is recorded (gate.h), or there is no memory; it is dropped. True: the clients are paused until jvm_event_end. */
bool jvm_event_begin(const struct JNINativeInterface_ **env);
void jvm_event_end(void);
/*
 * How an allocation is compared: the oracle is Java code, and not to run where the virtual machine loads or links a class for the thread, which
 * the same class could then be loaded in. For that it allocates instances of Class, empty arrays of int, and arrays of Object: these are not
 * compared.
 */
enum jvm_event_check jvm_event_check_of(const struct JNINativeInterface_ **env, struct _jobject *class, int64_t size);
/*
 * The context of the running thread. class: of what the event is of, or NULL; a walk has it as the innermost frame, in brackets. The clients are
 * paused.
 */
wm_context jvm_event_context(const struct JNINativeInterface_ **env, struct _jobject *thread,
			     enum jvm_event_check check, struct _jobject *class);

#endif
