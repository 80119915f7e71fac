/*
 * agent.c - the agent for HotSpot, a JVMTI agent (-agentpath): reads its options and starts what makes contexts, walks of the stack
 * (walking.h) or words (encoding.h).
 *
 * Where something is missing the agent says so in one line and the application runs as without it.
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdlib.h>

#include "jvm/c/base/faults.h"
#include "jvm/c/base/log.h"
#include "jvm/c/base/options.h"
#include "jvm/c/bridge/native_code.h"
#include "jvm/c/clients/clients.h"
#include "jvm/c/encoding.h"
#include "jvm/c/live.h"
#include "jvm/c/walking.h"
#include "recorder/task.h"
#include "recorder/text.h"
#include "runtime/clients.h"

enum {
	LEAST_JAVA = 17,
};

/*
 * Clients of the recorder: those of compiled programs (runtime/clients.c), since Java may call native methods that were built with Waymark, and
 * the agent's own.
 */
const struct wmrt_client *const wmrt_clients[] = {
	&wmrt_stacks, &wmrt_signals,    &wmrt_jumps,      &wmrt_coroutines, &wmrt_creators,    &wmrt_paths,
	&wmrt_heap,   &wmrt_heap_files, &jvm_native_code, &jvm_faults,      &wmrt_task_client, NULL,
};

/* Written in Agent_OnLoad. */
static struct jvm_options options;
static JavaVM *machine;

static bool read_options(const char *text)
{
	const char *unknown = NULL;
	char line[256];
	struct wmrt_text why = {line, sizeof line, 0};

	if (jvm_options_parse(getenv("WAYMARK_JVM"), &options, &unknown) &&
	    jvm_options_parse(text, &options, &unknown)) {
		const char *words_only = jvm_clients_need_words(&options);

		if (!words_only && *options.profile)
			words_only = "profile";
		if (!options.is_lucce || !words_only)
			return true;
		wmrt_text_add(&why, words_only);
		wmrt_text_add(&why, " works with encoder=fast only");
		jvm_log_disabled(line);
		return false;
	}
	wmrt_text_add(&why, "unknown option of the agent: ");
	wmrt_text_add(&why, unknown);
	jvm_log_disabled(line);
	return false;
}

/* Before the environment that needs a newer one: JDK 8 has no JVMTI of version 11. Its version is "1.8". */
static bool is_java_known(JavaVM *vm)
{
	jvmtiEnv *jvmti = NULL;
	char *version = NULL, line[128];
	struct wmrt_text text = {line, sizeof line, 0};
	bool ret;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_0) != JNI_OK)
		return true;
	if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &version) != JVMTI_ERROR_NONE)
		version = NULL;
	ret = !version || strtol(version, NULL, 10) >= LEAST_JAVA;
	if (!ret) {
		wmrt_text_add(&text, "the agent works with Java 17 and later, this is Java ");
		wmrt_text_add(&text, version);
		jvm_log_disabled(line);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)version);
	(*jvmti)->DisposeEnvironment(jvmti);
	return ret;
}

/* It has the timers' signal. Its walks name no Java methods: those come with words. */
static bool has_sampler(void)
{
	return dlsym(RTLD_DEFAULT, "wm1_agent_capture");
}

/* Words are of the thread that runs: nobody could say which one another thread has while it waits. */
static void drop_waits(void)
{
	if (options.clients[WM1_JVM_wall].is_on || options.clients[WM1_JVM_off_cpu].is_on)
		jvm_log("wall and off_cpu are off: they walk the stack, and what else is asked for needs rewritten classes");
	options.clients[WM1_JVM_wall].is_on = options.clients[WM1_JVM_off_cpu].is_on = false;
}

/* Never fails: the virtual machine would not start. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	jvmtiEnv *jvmti = NULL;

	(void)reserved;
	/* An options' file may name the agent once more. */
	if (machine)
		return JNI_OK;
	machine = vm;
	if (!is_java_known(vm) || !read_options(text))
		return JNI_OK;
	options.is_encoded |= options.clients[WM1_JVM_cpu].is_on && has_sampler();
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) {
		jvm_log_disabled("this virtual machine has no JVMTI of version 11");
	} else if (jvm_options_walk(&options)) {
		jvm_walking_load(jvmti, &options);
	} else {
		drop_waits();
		jvm_encoding_load(vm, jvmti, &options);
	}
	return JNI_OK;
}

/* Never fails: what it has to say is in the answer. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *folder, void *reserved)
{
	(void)reserved;
	if (folder)
		jvm_live_request(vm, folder, machine);
	return JNI_OK;
}
