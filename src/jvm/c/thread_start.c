/* thread_start.c - start0 is bound when java.lang.Thread is initialised, before there is Java code that starts threads. */
#include "jvm/c/thread_start.h"

#include <dlfcn.h>
#include <jni.h>
#include <stdatomic.h>

#include "jvm/c/natives.h"

typedef void start_function(JNIEnv *env, jobject thread);

/* Written when it is bound. */
static start_function *start;
/* Before the second: released. */
static jclass contexts;
static _Atomic jmethodID starts;

static void JNICALL start_noted(JNIEnv *env, jobject thread)
{
	jmethodID note = atomic_load_explicit(&starts, memory_order_acquire);

	if (note) {
		(*env)->CallStaticVoidMethod(env, contexts, note, thread);
		(*env)->ExceptionClear(env);
	}
	start(env, thread);
}

void *jvm_thread_start_bound(void *address)
{
	if (!address || address != dlsym(RTLD_DEFAULT, "JVM_StartThread"))
		return NULL;
	start = (start_function *)address;
	return (void *)start_noted;
}

bool jvm_thread_start_begin(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "dev/waymark/agent/ThreadContexts");
	jmethodID note = class ? (*env)->GetStaticMethodID(env, class, "starts", "(Ljava/lang/Thread;)V") : NULL;

	contexts = note ? (*env)->NewGlobalRef(env, class) : NULL;
	if (!contexts) {
		(*env)->ExceptionClear(env);
		return false;
	}
	if (!start)
		jvm_say("threads begin at [thread], not where they were started: this virtual machine starts them by other code");
	atomic_store_explicit(&starts, note, memory_order_release);
	return true;
}
