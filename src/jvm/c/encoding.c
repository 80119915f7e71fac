/*
 * encoding.c - contexts in words: gives java.lang.Thread some fields and a method before there is a thread, brings the agent's own classes,
 * and has each class of the application rewritten when it is loaded.
 *
 * Phases, in order: Agent_OnLoad; the first classes are loaded, without Java code (early class hooks: Thread is one of them); VMInit, in
 * the thread that will run main; VMDeath.
 */
#include "jvm/c/encoding.h"

#include <fcntl.h>
#include <jvmti.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "jvm/c/base/jar.h"
#include "jvm/c/base/java.h"
#include "jvm/c/base/log.h"
#include "jvm/c/base/options.h"
#include "jvm/c/bridge/native_code.h"
#include "jvm/c/bridge/natives.h"
#include "jvm/c/bridge/thread_start.h"
#include "jvm/c/classes/cache.h"
#include "jvm/c/classes/class_file.h"
#include "jvm/c/classes/hide.h"
#include "jvm/c/classes/hook.h"
#include "jvm/c/clients/carrier.h"
#include "jvm/c/clients/clients.h"
#include "jvm/c/clients/heat.h"
#include "jvm/c/clients/thread_names.h"
#include "jvm/c/codes/methods.h"
#include "jvm/c/codes/profile.h"
#include "jvm/c/contexts/frames.h"
#include "jvm/c/contexts/lucce_contexts.h"
#include "recorder/code.h"
#include "recorder/text.h"

enum {
	ACC_PUBLIC = 0x0001,
	ACC_STATIC = 0x0008,
	ACC_TRANSIENT = 0x0080,
	ACC_SYNTHETIC = 0x1000,
	ACCESS = ACC_PUBLIC | ACC_TRANSIENT | ACC_SYNTHETIC,
	LOCAL_REFERENCES = 1024, /* a module each, and some */
	PATH_BYTES = 4096,
	JAR_END_BYTES = 1 << 15,
};

static const struct class_file_field thread_fields[] = {
	{"waymark$word", "J", ACCESS},    {"waymark$contexts", "Ldev/waymark/agent/ThreadContexts;", ACCESS},
	{"waymark$version", "J", ACCESS}, {"waymark$site", "I", ACCESS},
	{"waymark$entered", "J", ACCESS}, {"waymark$thrown", "Ljava/lang/Throwable;", ACCESS},
	{"waymark$words", "[J", ACCESS},  {"waymark$known", "I", ACCESS},
	{"waymark$tid", "I", ACCESS},
};
enum {
	FORWARD_ACCESS = ACC_PUBLIC | ACC_STATIC | ACC_SYNTHETIC,
};
/* Methods that Thread gets, by the encoder. */
static const struct class_file_forward word_methods[] = {
	{"waymark$enter", "dev/waymark/agent/ContextStack", FORWARD_ACCESS},
	{"waymark$push", "dev/waymark/agent/ContextStack", FORWARD_ACCESS},
};
static const struct class_file_forward lucce_methods[] = {
	{"waymark$enter", "dev/waymark/agent/LucceContexts", FORWARD_ACCESS},
};
/* Read by the first hook. */
static struct class_file_addition thread_addition = {
	.fields = thread_fields,
	.field_count = sizeof thread_fields / sizeof *thread_fields,
	.forwards = word_methods,
	.forward_count = sizeof word_methods / sizeof *word_methods,
};

/* Written by jvm_encoding_load and VMInit by one thread, before classes of the application are loaded; read by any thread from then on. */
static struct jvm_options *options;
static JavaVM *machine;
static jclass rewriter;
/* A hash of the agent's classes; written by jvm_encoding_load. */
static uint64_t jar_hash;
/* Set by the first hook; read in VMInit, which comes later. */
static bool has_thread_fields;

/* ---- files of earlier runs ---- */

/* line: 0 for the whole file. */
static void say_file(const char *path, uint32_t line, const char *what)
{
	char text[PATH_BYTES + 128];
	struct wmrt_text out = {text, sizeof text, 0};

	wmrt_text_add(&out, path);
	if (line) {
		wmrt_text_char(&out, ':');
		wmrt_text_number(&out, line, 10, 1);
	}
	wmrt_text_add(&out, ": ");
	wmrt_text_add(&out, what);
	jvm_log(text);
}

/* One that is not used is not written either. */
static void read_profile(void)
{
	uint32_t line = 0;
	enum jvm_profile_result result = *options->profile ? jvm_profile_read(options->profile, &line) : JVM_PROFILE_OK;

	if (result == JVM_PROFILE_OK)
		return;
	if (result == JVM_PROFILE_DAMAGED)
		say_file(
			options->profile, line,
			"not a profile of Java calls that this agent knows: it is left as it is, and calls have codes as without one");
	else
		say_file(options->profile, 0, "cannot be read: calls have codes as without a profile");
	*options->profile = '\0';
}

static void write_profile(void)
{
	if (!*options->profile)
		return;
	jvm_heat_end();
	if (!jvm_methods_write_profile(options->profile))
		say_file(options->profile, 0, "the profile cannot be written");
}

/* The key has all that templates depend on beside the classes. With jdk= there are none. */
static uint64_t cache_key(void)
{
	const uint8_t flags[] = {options->is_lucce, options->check_every != 0};
	uint64_t ret = jvm_clients_hash(hash_bytes(jar_hash, flags, sizeof flags), options);

	ret = hash_bytes(ret, options->include, strlen(options->include) + 1);
	return hash_bytes(ret, options->exclude, strlen(options->exclude) + 1);
}

static void open_cache(void)
{
	enum jvm_cache_result result = *options->cache ? jvm_cache_open(options->cache, cache_key()) : JVM_CACHE_OK;

	if (result == JVM_CACHE_OK)
		return;
	say_file(
		options->cache, 0,
		result == JVM_CACHE_DAMAGED
			? "not a cache of classes that this agent knows: it is left as it is, and each class is rewritten"
		: result == JVM_CACHE_FOREIGN
			? "another user could have written it: it is left as it is, and each class is rewritten"
			: "cannot be read: each class is rewritten");
	*options->cache = '\0';
}

static void write_cache(void)
{
	if (*options->cache && !jvm_cache_write(options->cache, cache_key()))
		say_file(options->cache, 0, "the cache cannot be written");
}

/* ---- classes ---- */

static void add_to_thread(jvmtiEnv *jvmti, const unsigned char *bytes, jint len, jint *new_len,
			  unsigned char **new_bytes)
{
	size_t size = (size_t)len + class_file_added_bytes(&thread_addition);
	unsigned char *out = NULL;

	if ((*jvmti)->Allocate(jvmti, (jlong)size, &out) != JVMTI_ERROR_NONE)
		return;
	if (class_file_add(bytes, (size_t)len, &thread_addition, out) != CLASS_FILE_OK) {
		(*jvmti)->Deallocate(jvmti, out);
		return;
	}
	*new_len = (jint)size;
	*new_bytes = out;
	has_thread_fields = true;
}

/* Before there is Java code, and before others can have changed the class. */
static void JNICALL class_loads(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
				jobject domain, jint len, const unsigned char *bytes, jint *new_len,
				unsigned char **new_bytes)
{
	(void)jni, (void)domain;
	if (!redefined && !loader && name && strcmp(name, "java/lang/Thread") == 0)
		add_to_thread(jvmti, bytes, len, new_len, new_bytes);
}

/* ---- start and end ---- */

/* The agent's classes are in no module. All modules may call them: java.base and java.instrument do, others for the oracle. */
static bool let_modules_read(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Class");
	jmethodID get_module = (*jni)->GetMethodID(jni, class, "getModule", "()Ljava/lang/Module;");
	jobject own = (*jni)->CallObjectMethod(jni, rewriter, get_module), *modules = NULL;
	jint count = 0;
	bool ret = true;

	if (jvm_drop_thrown(jni) || (*jvmti)->GetAllModules(jvmti, &count, &modules) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < count; i++) {
		ret &= (*jvmti)->AddModuleReads(jvmti, modules[i], own) == JVMTI_ERROR_NONE;
		(*jni)->DeleteLocalRef(jni, modules[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)modules);
	return ret;
}

static bool start_rewriter(JNIEnv *jni)
{
	jmethodID start;

	rewriter = jvm_find_class(jni, "dev/waymark/agent/Rewriter");
	start = jvm_find_static(jni, rewriter, "start", "(ZIZLjava/lang/String;Ljava/lang/String;Ljava/lang/String;)V");
	if (!start)
		return false;
	(*jni)->CallStaticVoidMethod(jni, rewriter, start, (jboolean)options->is_checked, options->check_every,
				     (jboolean)options->is_lucce, (*jni)->NewStringUTF(jni, options->include),
				     (*jni)->NewStringUTF(jni, options->exclude),
				     (*jni)->NewStringUTF(jni, options->jdk));
	return !jvm_drop_thrown(jni);
}

static bool begin_classes(jvmtiEnv *jvmti, JNIEnv *jni)
{
	return jvm_natives_register(jni) && jvm_frames_register(jvmti, jni) && start_rewriter(jni) &&
	       jvm_native_code_begin(jni) && jvm_thread_start_begin(jni);
}

/* Programs that look at all fields of a Thread are rare: it is not worth to do without the agent. */
static bool begin_hiding(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti;
	if (!jvm_hide(jni, "java/lang/Thread", &thread_addition))
		jvm_log("programs find the agent's fields of java.lang.Thread by reflection: this JDK hides none");
	return true;
}

static bool begin_recording(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	return wmrt_code_epoch_commit(JVM_EPOCH, 0, 0);
}

static bool begin_clients(jvmtiEnv *jvmti, JNIEnv *jni)
{
	return jvm_clients_use_words(jni, options) && jvm_clients_begin(jvmti, jni, options);
}

static bool begin_profile(jvmtiEnv *jvmti, JNIEnv *jni)
{
	return !*options->profile || jvm_heat_begin(jvmti, jni);
}

static bool begin_hook(jvmtiEnv *jvmti, JNIEnv *jni)
{
	return jvm_hook_begin(machine, jvmti, jni, rewriter, options) && jvm_natives_announce(jni);
}

/* Each has a frame for its local references: Java code that it calls may load classes and bind methods, which come back to the agent. */
static const struct {
	bool (*begin)(jvmtiEnv *jvmti, JNIEnv *jni);
	const char *missing;
} steps[] = {
	{begin_classes, JVM_JAR " is not beside the agent, or of another version"},
	{begin_hiding, ""},
	{let_modules_read, "java.base cannot call the agent"},
	{begin_recording, "nothing can be recorded"},
	{begin_clients, "this virtual machine lacks what a client needs"},
	{begin_profile, "there is no thread for the profile"},
	{begin_hook, "classes cannot be changed"},
};

static bool run_step(size_t step, jvmtiEnv *jvmti, JNIEnv *jni)
{
	bool ret;

	if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES) != 0) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	ret = steps[step].begin(jvmti, jni);
	(*jni)->PopLocalFrame(jni, NULL);
	return ret;
}

static void JNICALL vm_begins(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)thread;
	if (!has_thread_fields) {
		jvm_log_disabled("java.lang.Thread was loaded before the agent");
		return;
	}
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (!run_step(i, jvmti, jni)) {
			jvm_log_disabled(steps[i].missing);
			return;
		}
}

static void JNICALL vm_ends(jvmtiEnv *jvmti, JNIEnv *jni)
{
	struct jvm_compared compared = jvm_natives_compared();
	char line[128];
	struct wmrt_text text = {line, sizeof line, 0};

	(void)jvmti, (void)jni;
	jvm_clients_end(options);
	write_profile();
	write_cache();
	jvm_log_counts();
	if (options->is_lucce && jvm_lucce_lost()) {
		wmrt_text_add(&text, "contexts of ");
		wmrt_text_number(&text, jvm_lucce_lost(), 10, 1);
		wmrt_text_add(&text, " calls are lost: the log of versions is full, or there was no memory");
		jvm_log(line);
		text.len = 0;
	}
	if (!options->is_checked)
		return;
	wmrt_text_number(&text, compared.agreed, 10, 1);
	wmrt_text_add(&text, " captures agreed with the stack, ");
	wmrt_text_number(&text, compared.differed, 10, 1);
	wmrt_text_add(&text, " differed");
	if (compared.lost) {
		wmrt_text_add(&text, ", ");
		wmrt_text_number(&text, compared.lost, 10, 1);
		wmrt_text_add(&text, " were lost");
	}
	jvm_log(line);
}

/* The directory of a jar is at its end, and has a checksum of each class. */
static void hash_jar(const char *path)
{
	static uint8_t end[JAR_END_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t len = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t got = len < 0 ? -1 : pread(fd, end, sizeof end, len > JAR_END_BYTES ? len - JAR_END_BYTES : 0);

	if (fd >= 0)
		close(fd);
	jar_hash = hash_bytes(HASH_START, end, got > 0 ? (size_t)got : 0);
}

/* Our classes, beside this library, come into the loader that all others ask. */
static bool add_jar(jvmtiEnv *jvmti)
{
	char path[JVM_JAR_PATH_BYTES];

	if (!jvm_jar_find(path))
		return false;
	if (*options->cache)
		hash_jar(path);
	return (*jvmti)->AddToBootstrapClassLoaderSearch(jvmti, path) == JVMTI_ERROR_NONE;
}

/* Before the first hook. False without memory. */
static bool choose_encoder(void)
{
	if (!options->is_lucce)
		return true;
	thread_addition.forwards = lucce_methods;
	thread_addition.forward_count = sizeof lucce_methods / sizeof *lucce_methods;
	return jvm_lucce_init();
}

static bool watch(jvmtiEnv *jvmti)
{
	static const jvmtiEvent events[] = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
					    JVMTI_EVENT_NATIVE_METHOD_BIND};
	jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = class_loads, .VMInit = vm_begins, .VMDeath = vm_ends};
	static const jvmtiCapabilities wanted = {.can_generate_all_class_hook_events = 1,
						 .can_generate_early_class_hook_events = 1,
						 .can_get_line_numbers = 1};

	jvm_thread_names_begin(jvmti);
	jvm_native_code_callbacks(&callbacks);
	if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
	    !jvm_clients_load(jvmti, &callbacks, options) || (*options->profile && !jvm_carrier_prepare(jvmti)) ||
	    !jvm_native_code_prepare(jvmti) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
		return false;
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE)
			return false;
	return true;
}

static void read_files(void)
{
	read_profile();
	open_cache();
}

bool jvm_encoding_load(JavaVM *vm, jvmtiEnv *jvmti, struct jvm_options *given)
{
	machine = vm;
	options = given;
	if (!jvm_methods_init() || !choose_encoder()) {
		jvm_log_disabled("there is no memory");
		return false;
	}
	if (!add_jar(jvmti) || !watch(jvmti)) {
		jvm_log_disabled("this virtual machine lacks what the agent needs");
		return false;
	}
	read_files();
	return true;
}
