/* thread_names.c - asks JVMTI. Virtual threads mostly have no name; their events then have that of the thread that ran them before. */
#include "jvm/c/clients/thread_names.h"

#include <jvmti.h>
#include <stdbool.h>

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

void jvm_thread_name_here(const struct JNINativeInterface_ **env)
{
	if (named_in == wmrt_process.generation + 1)
		return;
	named_in = wmrt_process.generation + 1;
	jvm_thread_name(env, NULL, wmrt_gettid());
}
