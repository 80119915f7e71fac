/* walking.c - capabilities and callbacks, then the events: at VMInit, or whenever a running virtual machine has got the agent. */
#include "jvm/c/walking.h"

#include "jvm/c/base/jar.h"
#include "jvm/c/base/log.h"
#include "jvm/c/bridge/walked_natives.h"
#include "jvm/c/clients/clients.h"
#include "jvm/c/clients/event.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/walk/thread_ids.h"
#include "jvm/c/walk/walk.h"

/* Written by jvm_walking_prepare. */
static struct jvm_options *options;

static void JNICALL vm_begins(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jvm_walking_begin(jvmti, env, thread);
}

static void JNICALL vm_ends(jvmtiEnv *jvmti, JNIEnv *env)
{
	(void)jvmti, (void)env;
	jvm_walking_end();
	jvm_log_counts();
}

static wm_context context_here(JNIEnv *env, jthread thread, enum jvm_event_check check, jclass class)
{
	(void)thread, (void)check;
	return jvm_walk_here(env, 0, class);
}

bool jvm_walking_prepare(jvmtiEnv *jvmti, struct jvm_options *given)
{
	static const jvmtiCapabilities wanted = {.can_get_line_numbers = 1, .can_get_source_file_name = 1};
	jvmtiEventCallbacks callbacks = {.VMInit = vm_begins, .VMDeath = vm_ends};
	static bool is_known; /* the tables, which stay */

	options = given;
	jvm_thread_names_begin(jvmti);
	jvm_event_use(context_here);
	is_known = is_known || jvm_walk_init(jvmti);
	if (is_known && (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
	    jvm_clients_load(jvmti, &callbacks, options) &&
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) == JVMTI_ERROR_NONE)
		return true;
	jvm_log_disabled("this virtual machine lacks what the agent needs");
	return false;
}

void jvm_walking_load(jvmtiEnv *jvmti, struct jvm_options *given)
{
	char path[JVM_JAR_PATH_BYTES];

	if (!jvm_walking_prepare(jvmti, given))
		return;
	/* Later the virtual machine would warn that it shares fewer classes. */
	if (jvm_jar_find(path) && (*jvmti)->AddToBootstrapClassLoaderSearch(jvmti, path) == JVMTI_ERROR_NONE)
		jvm_walked_natives_announce();
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
}

bool jvm_walking_begin(jvmtiEnv *jvmti, JNIEnv *env, jthread main)
{
	JavaVM *vm = NULL;

	if ((*env)->GetJavaVM(env, &vm) == JNI_OK)
		jvm_thread_ids_init(vm, env);
	if (jvm_walk_begin(jvmti, env, main) && jvm_clients_begin(jvmti, env, options)) {
		jvm_thread_names_watch(env);
		return true;
	}
	jvm_log_disabled("this virtual machine lacks what a client needs");
	return false;
}

void jvm_walking_end(void)
{
	jvm_clients_end(options);
	jvm_thread_names_end();
}

void jvm_walking_release(jvmtiEnv *jvmti)
{
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_VM_DEATH, NULL);
	jvm_clients_release(jvmti, options);
}
