/* thread_start.c - start0 is bound when java.lang.Thread is initialised, before there is Java code that starts threads. */
#include "jvm/c/bridge/thread_start.h"

#include <dlfcn.h>
#include <jvmti.h>
#include <stdatomic.h>

#include "jvm/c/base/log.h"
#include "jvm/c/base/java.h"

typedef void start_function(JNIEnv *env, jobject thread);

/* start0 of the virtual machine; written by jvm_thread_start_prepare. */
static void *machine_start;
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
		jvm_drop_thrown(env);
	}
	start(env, thread);
}

/* A program that creates the virtual machine may have loaded its library for itself alone. */
void jvm_thread_start_prepare(const struct jvmtiInterface_1_ **jvmti)
{
	Dl_info info;
	void *library = dladdr((void *)(*jvmti)->GetVersionNumber, &info)
				? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
				: NULL;

	if (!library)
		return;
	machine_start = dlsym(library, "JVM_StartThread");
	dlclose(library);
}

void *jvm_thread_start_bound(void *address)
{
	if (!address || address != machine_start)
		return NULL;
	start = (start_function *)address;
	return (void *)start_noted;
}

bool jvm_thread_start_begin(JNIEnv *env)
{
	jmethodID note;

	contexts = jvm_find_class(env, "dev/waymark/agent/ThreadContexts");
	note = jvm_find_static(env, contexts, "starts", "(Ljava/lang/Thread;)V");
	if (!note)
		return false;
	if (!start)
		jvm_log("threads begin at [thread], not where they were started: this virtual machine starts them by other code");
	atomic_store_explicit(&starts, note, memory_order_release);
	return true;
}
