/*
 * thread_names.c - asks JVMTI. Virtual threads mostly have no name; their events then have that of the thread that ran them before.
 *
 * Thread.setName hands the new name of a thread that runs to the virtual machine, by a native method, setNativeName.
 */
#include "jvm/c/clients/thread_names.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/base/java.h"
#include "jvm/c/base/rebind.h"
#include "jvm/c/walk/thread_ids.h"
#include "recorder/file.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/thread_name.h"

/* Written by jvm_thread_names_begin. */
static jvmtiEnv *tools;
/* The recording that has the thread's name, by its generation and 1; 0: none has. */
static _Thread_local uint32_t named_in __attribute__((tls_model("initial-exec")));

void jvm_thread_names_begin(const struct jvmtiInterface_1_ **jvmti)
{
	tools = jvmti;
}

void jvm_thread_name(const struct JNINativeInterface_ **env, jthread thread, uint32_t tid)
{
	jvmtiThreadInfo info = {0};

	if ((*tools)->GetThreadInfo(tools, thread, &info) != JVMTI_ERROR_NONE)
		return;
	if (info.name && *info.name)
		wmrt_thread_name(tid, info.name);
	(*tools)->Deallocate(tools, (unsigned char *)info.name);
	(*env)->DeleteLocalRef(env, info.thread_group);
	(*env)->DeleteLocalRef(env, info.context_class_loader);
}

/* ---- other names ---- */

typedef void(JNICALL *name_function)(JNIEnv *env, jobject thread, jstring name);

static const char set_name[] = "setNativeName", set_name_descriptor[] = "(Ljava/lang/String;)V";
/* Written by jvm_thread_names_watch, before the method is bound. */
static JavaVM *machine;
static jclass thread_class;
static name_function own_set_name;
static _Atomic bool is_watched;

/* A recording that has no event yet will have the name with the thread's first one. */
static void JNICALL name_is_set(JNIEnv *env, jobject thread, jstring name)
{
	uint32_t tid;
	const char *text;

	own_set_name(env, thread, name);
	if (!atomic_load(&is_watched) || !name || !jvm_gate_enter())
		return;
	tid = wmrt_file_header() ? jvm_thread_id(env, thread) : 0;
	text = tid ? (*env)->GetStringUTFChars(env, name, NULL) : NULL;
	if (text) {
		wmrt_thread_name(tid, text);
		(*env)->ReleaseStringUTFChars(env, name, text);
	}
	jvm_gate_leave();
}

void jvm_thread_names_watch(const struct JNINativeInterface_ **env)
{
	if (!own_set_name) {
		thread_class = jvm_find_class(env, "java/lang/Thread");
		if (!thread_class || (*env)->GetJavaVM(env, &machine) != JNI_OK ||
		    !jvm_rebind_find(tools, env, thread_class, set_name, set_name_descriptor, (void **)&own_set_name))
			return;
	}
	atomic_store(&is_watched, true);
	jvm_rebind(env, thread_class, set_name, set_name_descriptor, (void *)name_is_set);
}

void jvm_thread_names_end(void)
{
	JNIEnv *env = NULL;

	if (atomic_exchange(&is_watched, false) && (*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) == JNI_OK)
		jvm_rebind(env, thread_class, set_name, set_name_descriptor, (void *)own_set_name);
}

void jvm_thread_name_here(const struct JNINativeInterface_ **env)
{
	if (named_in == wmrt_process.generation + 1)
		return;
	named_in = wmrt_process.generation + 1;
	jvm_thread_name(env, NULL, wmrt_gettid());
}
