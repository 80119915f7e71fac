/*
 * hook.c - the hook is in an environment of its own, which can change loaded classes: the virtual machine hands a class to such ones last,
 * in the order in which they were made. Ours is made anew whenever another agent has got one. So it sees the calls that the others add,
 * and when they change a class later it is asked again.
 *
 *     bytes of a class -> other agents, when it is loaded -> other agents, at any time -> this one
 */
#include "jvm/c/classes/hook.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/base/pause.h"
#include "jvm/c/base/options.h"
#include "jvm/c/classes/rewrite.h"
#include "jvm/c/base/log.h"
#include "jvm/c/base/java.h"

#define OWN "dev/waymark/"
#define INSTRUMENTATION "sun/instrument/InstrumentationImpl"
#define VIRTUAL_THREAD "java/lang/VirtualThread"

enum {
	LOADED_CLASSES = 4096, /* more than there are before main; the most that JNI takes */
};

/* Set before the hook is on, which is in one thread. */
static JavaVM *machine;
/* An environment for memory: that of the hook may be given up while a class is rewritten. */
static jvmtiEnv *memory;
static jclass rewriter;
static jmethodID change_jdk, is_wanted;
static bool is_jdk;

/* The environment of the hook; under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jvmtiEnv *current;

static _Thread_local bool is_rewriting;

/* ---- a class ---- */

/* The class of java.lang.instrument that hands classes to other agents. */
static bool is_instrumentation(const char *name)
{
	return strcmp(name, INSTRUMENTATION) == 0;
}

/* Is the class one of the JDK's that change in any case? */
static bool is_changed(jobject loader, const char *name)
{
	return !loader && name && (is_instrumentation(name) || strcmp(name, VIRTUAL_THREAD) == 0);
}

static void say_unchanged(const char *name)
{
	if (is_instrumentation(name))
		jvm_log("calls that other agents add are in no context: their class is another one than the agent knows");
	else
		jvm_log("virtual threads begin at [thread], not where they were started: this JDK starts them by other code");
}

/* NULL: it stays as it is. */
static uint8_t *changed(JNIEnv *jni, const char *name, const unsigned char *bytes, jint len, size_t *new_len)
{
	jbyteArray array = (*jni)->NewByteArray(jni, len), result = NULL;
	jstring string = array ? (*jni)->NewStringUTF(jni, name) : NULL;
	uint8_t *ret = NULL;

	if (is_instrumentation(name))
		jvm_rewrite_leave_cache();
	if (string) {
		(*jni)->SetByteArrayRegion(jni, array, 0, len, (const jbyte *)bytes);
		result = (*jni)->CallStaticObjectMethod(jni, rewriter, change_jdk, string, array);
	}
	if (!jvm_drop_thrown(jni) && result) {
		*new_len = (size_t)(*jni)->GetArrayLength(jni, result);
		ret = malloc(*new_len);
		if (ret)
			(*jni)->GetByteArrayRegion(jni, result, 0, (jint)*new_len, (jbyte *)ret);
	}
	if (!ret)
		say_unchanged(name);
	return ret;
}

/* new_class: freed. */
static void hand_over(uint8_t *new_class, size_t len, jint *new_len, unsigned char **new_bytes)
{
	unsigned char *out = NULL;

	if (new_class && (*memory)->Allocate(memory, (jlong)len, &out) == JVMTI_ERROR_NONE) {
		memcpy(out, new_class, len);
		*new_len = (jint)len;
		*new_bytes = out;
	}
	free(new_class);
}

static void rewrite_class(JNIEnv *jni, jobject loader, const char *name, const unsigned char *bytes, jint len,
			  jint *new_len, unsigned char **new_bytes)
{
	size_t size = 0;
	uint8_t *new_class = is_changed(loader, name) ? changed(jni, name, bytes, len, &size)
						      : jvm_rewrite(jni, loader, name, bytes, (size_t)len, &size);

	hand_over(new_class, size, new_len, new_bytes);
}

static void JNICALL class_changes(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
				  jobject domain, jint len, const unsigned char *bytes, jint *new_len,
				  unsigned char **new_bytes)
{
	bool was_rewriting = is_rewriting;

	(void)jvmti, (void)redefined, (void)domain;
	if (!loader && !is_jdk && !is_changed(loader, name))
		return;
	/* Ours: to rewrite one may need that very one. */
	if (!loader && name && strncmp(name, OWN, sizeof OWN - 1) == 0)
		return;
	/* A class of the JDK that the rewriter needs stays as it is. warmUp has loaded nearly all of them before. */
	if (!loader && is_rewriting)
		return;
	if ((*jni)->PushLocalFrame(jni, 8) != 0) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	is_rewriting = true;
	jvm_pause();
	rewrite_class(jni, loader, name, bytes, len, new_len, new_bytes);
	jvm_resume();
	is_rewriting = was_rewriting;
	(*jni)->PopLocalFrame(jni, NULL);
}

/* ---- environments ---- */

static jvmtiEnv *open_environment(void)
{
	static const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = class_changes};
	static const jvmtiCapabilities wanted = {.can_retransform_classes = 1, .can_generate_all_class_hook_events = 1};
	jvmtiEnv *jvmti = NULL;

	if ((*machine)->GetEnv(machine, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		return NULL;
	if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) !=
		    JVMTI_ERROR_NONE) {
		(*jvmti)->DisposeEnvironment(jvmti);
		return NULL;
	}
	return jvmti;
}

/* Behind all that there are. For a while classes may come through both, and the rewriter knows its own code; none comes through neither. */
static bool renew_environment(void)
{
	jvmtiEnv *next, *old = NULL;

	pthread_mutex_lock(&lock);
	next = open_environment();
	if (next) {
		old = current;
		current = next;
	}
	pthread_mutex_unlock(&lock);
	if (old)
		(*old)->DisposeEnvironment(old);
	return next;
}

static void renew(JNIEnv *jni, jclass class)
{
	(void)jni, (void)class;
	if (!renew_environment())
		jvm_log("calls that other agents add are in no context: there is no new environment for the hook");
}

/* ---- classes that are loaded already ---- */

/* Without jdk= that can be one class only. */
static bool may_be_wanted(jvmtiEnv *jvmti, jclass class)
{
	char *signature = NULL;
	bool ret = is_jdk;

	if (ret || (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return ret;
	ret = strcmp(signature, "L" INSTRUMENTATION ";") == 0;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return ret;
}

static bool is_class_wanted(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	jboolean is_modifiable = JNI_FALSE, ret;

	if ((*jvmti)->IsModifiableClass(jvmti, class, &is_modifiable) != JVMTI_ERROR_NONE || !is_modifiable)
		return false;
	ret = (*jni)->CallStaticBooleanMethod(jni, rewriter, is_wanted, class);
	return !jvm_drop_thrown(jni) && ret;
}

/* One that the virtual machine refuses would fail all of a batch. */
static void retransform_each(jvmtiEnv *jvmti, const jclass *classes, jint count)
{
	if (count == 0 || (*jvmti)->RetransformClasses(jvmti, count, classes) == JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++)
		if ((*jvmti)->RetransformClasses(jvmti, 1, &classes[i]) != JVMTI_ERROR_NONE)
			jvm_log_of("a class of the JDK",
				   "not instrumented: the virtual machine refuses what it would be");
}

/*
 * *ret: for Deallocate; a global reference to each class that may be wanted. JVMTI gives local ones: with these, what Java code calls would
 * pass the capacity that JNI has promised it.
 */
static jint loaded_classes(jvmtiEnv *jvmti, JNIEnv *jni, jclass **ret)
{
	jint count = 0, kept = 0;

	if ((*jni)->PushLocalFrame(jni, LOADED_CLASSES) != 0) {
		(*jni)->ExceptionClear(jni);
		return 0;
	}
	if ((*jvmti)->GetLoadedClasses(jvmti, &count, ret) != JVMTI_ERROR_NONE)
		count = 0;
	for (jint i = 0; i < count; i++) {
		jobject global = may_be_wanted(jvmti, (*ret)[i]) ? (*jni)->NewGlobalRef(jni, (*ret)[i]) : NULL;

		if (global)
			(*ret)[kept++] = global;
	}
	(*jni)->PopLocalFrame(jni, NULL);
	return kept;
}

static void retransform_loaded(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes = NULL;
	jint count = loaded_classes(jvmti, jni, &classes), wanted = 0;

	for (jint i = 0; i < count; i++) {
		if (is_class_wanted(jvmti, jni, classes[i]))
			classes[wanted++] = classes[i];
		else
			(*jni)->DeleteGlobalRef(jni, classes[i]);
	}
	retransform_each(jvmti, classes, wanted);
	for (jint i = 0; i < wanted; i++)
		(*jni)->DeleteGlobalRef(jni, classes[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* By an environment of its own: that of the hook may be given up meanwhile. */
static bool retransform(jclass class)
{
	static const jvmtiCapabilities wanted = {.can_retransform_classes = 1};
	jvmtiEnv *jvmti = NULL;
	bool ret;

	if (!machine || (*machine)->GetEnv(machine, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		return false;
	ret = (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
	      (*jvmti)->RetransformClasses(jvmti, 1, &class) == JVMTI_ERROR_NONE;
	(*jvmti)->DisposeEnvironment(jvmti);
	return ret;
}

void jvm_hook_begin_virtual(struct _jobject *class)
{
	if (!retransform(class))
		say_unchanged(VIRTUAL_THREAD);
}

/* ---- ---- */

static bool find_methods(JNIEnv *jni)
{
	static const JNINativeMethod native = {(char *)"renew", (char *)"()V", (void *)renew};

	change_jdk = jvm_find_static(jni, rewriter, "changeOfJdk", "(Ljava/lang/String;[B)[B");
	is_wanted = jvm_find_static(jni, rewriter, "isLoadedWanted", "(Ljava/lang/Class;)Z");
	return change_jdk && is_wanted && jvm_register_natives(jni, "dev/waymark/agent/OtherAgents", &native, 1);
}

bool jvm_hook_begin(const struct JNIInvokeInterface_ **vm, const struct jvmtiInterface_1_ **jvmti,
		    const struct JNINativeInterface_ **env, struct _jobject *class, const struct jvm_options *options)
{
	machine = vm;
	memory = jvmti;
	rewriter = class;
	is_jdk = *options->jdk;
	if (!find_methods(env) || !jvm_rewrite_begin(env, rewriter, options))
		return false;
	/* Classes that are loaded from here on come through the hook; those that were loaded before are found below. */
	if (!renew_environment())
		return false;
	retransform_loaded(current, env);
	return true;
}
