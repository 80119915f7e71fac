/* natives.c - what Java classes of the agent call: contexts are recorded, and classes, methods and sites are made known. */
#include "jvm/c/bridge/natives.h"

#include <jni.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "jvm/c/base/pause.h"
#include "jvm/c/contexts/contexts.h"
#include "jvm/c/contexts/lucce_contexts.h"
#include "jvm/c/codes/methods.h"
#include "jvm/c/base/java.h"
#include "jvm/c/base/log.h"
#include "jvm/c/codes/super_calls.h"
#include "jvm/c/clients/thread_names.h"
#include "recorder/event.h"
#include "recorder/sys.h"
#include "recorder/task.h"
#include "recorder/text.h"
#include "recorder/token.h"
#include "waymark/abi.h"

enum {
	LINE_MAX = 8192, /* bytes of a description */
	SAID_MAX = 10,   /* differences that are printed */
};

static _Atomic uint64_t agreed, differed, lost;

struct jvm_compared jvm_natives_compared(void)
{
	return (struct jvm_compared){atomic_load(&agreed), atomic_load(&differed), atomic_load(&lost)};
}

/* ---- contexts ---- */

/* As Java has it: the members of struct jvm_calls for each word. */
enum {
	CALLS_INTS = sizeof(struct jvm_calls) / sizeof(jint),
};

static struct jvm_calls known_calls(JNIEnv *env, jintArray calls, jint i, jint root)
{
	struct jvm_calls ret = jvm_calls_of_root((uint32_t)root);

	if (i > 0)
		(*env)->GetIntArrayRegion(env, calls, (i - 1) * CALLS_INTS, CALLS_INTS, (jint *)&ret);
	return ret;
}

/*
 * words: those that are pushed, `index` of them. calls: what they stand for, known of the first `known` words, and of all afterwards. The
 * result is a prefix and a site.
 */
static jlong resolve(JNIEnv *env, jclass class, jlong word, jlongArray words, jintArray calls, jint known, jint root)
{
	jint index = (jint)sitecode_index((uint64_t)word);
	struct jvm_calls sum;
	wm_context c;

	(void)class;
	if (index == SITECODE_LOST_INDEX)
		return (jlong)((uint64_t)WM_PREFIX_LOST << 32);
	sum = known_calls(env, calls, known < index ? known : index, root);
	for (jint i = known; i < index; i++) {
		jlong pushed = 0;

		(*env)->GetLongArrayRegion(env, words, i, 1, &pushed);
		sum = jvm_calls_add(sum, (uint64_t)pushed);
		(*env)->SetIntArrayRegion(env, calls, i * CALLS_INTS, CALLS_INTS, (const jint *)&sum);
	}
	c = jvm_context(sum, (uint64_t)word);
	return jvm_natives_number(c);
}

/* The context of a call as struct jvm_lucce_call: a prefix and a site. */
static jlong resolve_lucce(JNIEnv *env, jclass class, jint site, jlong number, jlong version, jint root)
{
	const struct jvm_lucce_call call = {site, {(uint64_t)number, (uint64_t)version}};
	const wm_context c = jvm_lucce_context((uint32_t)root, call);

	(void)env, (void)class;
	return jvm_natives_number(c);
}

static jint prefix_of(JNIEnv *env, jint below, jintArray sites, uint32_t without_memory,
		      uint32_t (*of)(uint32_t below, const int32_t *sites, size_t count))
{
	jsize count = (*env)->GetArrayLength(env, sites);
	jint *items = (*env)->GetIntArrayElements(env, sites, NULL);
	uint32_t ret = items ? of((uint32_t)below, items, (size_t)count) : without_memory;

	if (items)
		(*env)->ReleaseIntArrayElements(env, sites, items, JNI_ABORT);
	return (jint)ret;
}

static jint thread_root(JNIEnv *env, jclass class, jint starter, jintArray sites)
{
	(void)class;
	return prefix_of(env, starter, sites, WM_PREFIX_THREAD, jvm_thread_root);
}

static jint prefix(JNIEnv *env, jclass class, jint below, jintArray sites)
{
	(void)class;
	return prefix_of(env, below, sites, WM_PREFIX_LOST, jvm_prefix);
}

/* step: gets the members of struct lucce_step. */
static void enter_lucce(JNIEnv *env, jclass class, jint site, jint method, jlong number, jlong version, jlongArray step)
{
	const struct jvm_lucce_call call = {site, {(uint64_t)number, (uint64_t)version}};
	const struct lucce_step s = jvm_lucce_enter(call, method);
	const jlong members[] = {(jlong)s.from_version, (jlong)s.from_number, (jlong)s.addend, (jlong)s.version,
				 s.is_boundary};

	(void)class;
	(*env)->SetLongArrayRegion(env, step, 0, sizeof members / sizeof *members, members);
}

static wm_context context_of(jlong context)
{
	return jvm_natives_context(context, JVM_EPOCH);
}

void jvm_natives_begin_task(int64_t enqueued, int64_t here, uint32_t epoch)
{
	wm_context of_enqueued = jvm_natives_context(enqueued, enqueued ? epoch : WM_EPOCH_NONE);
	wm_context of_here = jvm_natives_context(here, epoch);

	wmrt_task_begin(&of_enqueued, &of_here);
}

static void begin_task(JNIEnv *env, jclass class, jlong enqueued, jlong here)
{
	(void)env, (void)class;
	jvm_natives_begin_task(enqueued, here, JVM_EPOCH);
}

static void end_task(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	wmrt_task_end();
}

static jlong in_task(JNIEnv *env, jclass class, jlong context)
{
	wm_context c = wmrt_in_task(context_of(context));

	(void)env, (void)class;
	return jvm_natives_number(c);
}

jstring jvm_natives_token(JNIEnv *env, wm_context context)
{
	char text[WM_TOKEN_MAX];
	jstring ret;

	wmrt_token(context, text, sizeof text);
	jvm_pause();
	ret = (*env)->NewStringUTF(env, text);
	jvm_resume();
	return ret;
}

void jvm_natives_event(JNIEnv *env, wm_context context, jstring name, int64_t value)
{
	const char *text = (*env)->GetStringUTFChars(env, name, NULL);

	if (!text)
		return;
	jvm_thread_name_here(env);
	wmrt_event(context, text, (uint64_t)value);
	(*env)->ReleaseStringUTFChars(env, name, text);
}

static jstring token(JNIEnv *env, jclass class, jlong context)
{
	(void)class;
	return jvm_natives_token(env, context_of(context));
}

static void event(JNIEnv *env, jclass class, jlong context, jstring name, jlong value)
{
	(void)class;
	jvm_natives_event(env, context_of(context), name, value);
}

/* ---- tables ---- */

/* A string of Java's for the time of a call; NULL for null. */
static const char *open_string(JNIEnv *env, jstring s)
{
	return s ? (*env)->GetStringUTFChars(env, s, NULL) : NULL;
}

static void close_string(JNIEnv *env, jstring s, const char *text)
{
	if (text)
		(*env)->ReleaseStringUTFChars(env, s, text);
}

static jboolean has_super_call(JNIEnv *env, jclass class, jint site)
{
	(void)env, (void)class;
	return jvm_super_calls_has(site);
}

static jboolean is_doubtful(JNIEnv *env, jclass class, jint site)
{
	(void)env, (void)class;
	return jvm_super_calls_is_doubtful(site);
}

/* ---- the oracle ---- */

static jstring describe(JNIEnv *env, jclass class, jint site)
{
	char text[LINE_MAX];

	(void)class;
	jvm_site_describe(site, text, sizeof text);
	return (*env)->NewStringUTF(env, text);
}

static jlong without_last(JNIEnv *env, jclass class, jlong word)
{
	uint64_t ret = (uint64_t)word;

	(void)env, (void)class;
	(void)jvm_site_take(&ret);
	return (jlong)ret;
}

static void lucce_without_last(JNIEnv *env, jclass class, jlongArray members)
{
	jlong m[3];
	struct jvm_lucce_call call;

	(void)class;
	(*env)->GetLongArrayRegion(env, members, 0, 3, m);
	call = jvm_lucce_without_last((struct jvm_lucce_call){(int32_t)m[0], {(uint64_t)m[1], (uint64_t)m[2]}});
	m[0] = call.site;
	m[1] = (jlong)call.from.number;
	m[2] = (jlong)call.from.version;
	(*env)->SetLongArrayRegion(env, members, 0, 3, m);
}

/* The calls of a call, its own the last; null: they are lost. */
static jintArray lucce_sites_of(JNIEnv *env, jclass class, jint site, jlong number, jlong version)
{
	const struct jvm_lucce_call call = {site, {(uint64_t)number, (uint64_t)version}};
	size_t count;
	int32_t *sites = jvm_lucce_sites(call, &count);
	jintArray ret = sites ? (*env)->NewIntArray(env, (jsize)count) : NULL;

	(void)class;
	if (ret)
		(*env)->SetIntArrayRegion(env, ret, 0, (jsize)count, sites);
	free(sites);
	return ret;
}

/* The calls of a word, outermost first; null: it is no word. */
static jintArray sites_of(JNIEnv *env, jclass class, jlong word)
{
	int32_t sites[SITECODE_MAX_CALLS];
	size_t count = jvm_word_calls((uint64_t)word, sites);
	jintArray ret = count > SITECODE_MAX_CALLS ? NULL : (*env)->NewIntArray(env, (jsize)count);

	(void)class;
	if (ret)
		(*env)->SetIntArrayRegion(env, ret, 0, (jsize)count, sites);
	return ret;
}

static void say(JNIEnv *env, jclass class, jstring line)
{
	const char *text = open_string(env, line);

	(void)class;
	if (text)
		jvm_log(text);
	close_string(env, line, text);
}

static void say_of(JNIEnv *env, jclass class, jstring subject, jstring kind)
{
	const char *text = open_string(env, subject), *kind_text = open_string(env, kind);

	(void)class;
	if (text && kind_text)
		jvm_log_of(text, kind_text);
	close_string(env, subject, text);
	close_string(env, kind, kind_text);
}

static void compared(JNIEnv *env, jclass class, jstring what)
{
	if (!what)
		atomic_fetch_add(&agreed, 1);
	else if (atomic_fetch_add(&differed, 1) < SAID_MAX)
		say(env, class, what);
}

static void count_lost(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	atomic_fetch_add(&lost, 1);
}

static jboolean probe(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return JNI_TRUE;
}

/* ---- clients ---- */

static void pause_clients(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	jvm_pause();
}

static void resume_clients(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	jvm_resume();
}

/* ---- registration ---- */

#define NATIVE(java_name, signature, function) {(char *)(java_name), (char *)(signature), (void *)(function)}

static const JNINativeMethod recorder[] = {
	NATIVE("resolve", "(J[J[III)J", resolve),
	NATIVE("resolveLucce", "(IJJI)J", resolve_lucce),
	NATIVE("threadRoot", "(I[I)I", thread_root),
	NATIVE("prefix", "(I[I)I", prefix),
	NATIVE("enterLucce", "(IIJJ[J)V", enter_lucce),
	NATIVE("beginTask", "(JJ)V", begin_task),
	NATIVE("leaveTask", "()V", end_task),
	NATIVE("inTask", "(J)J", in_task),
	NATIVE("token", "(J)Ljava/lang/String;", token),
	NATIVE("event", "(JLjava/lang/String;J)V", event),
	NATIVE("sites", "(J)[I", sites_of),
	NATIVE("withoutLast", "(J)J", without_last),
	NATIVE("lucceWithoutLast", "([J)V", lucce_without_last),
	NATIVE("lucceSites", "(IJJ)[I", lucce_sites_of),
	NATIVE("describe", "(I)Ljava/lang/String;", describe),
	NATIVE("compared", "(Ljava/lang/String;)V", compared),
	NATIVE("lost", "()V", count_lost),
	NATIVE("say", "(Ljava/lang/String;)V", say),
	NATIVE("sayOf", "(Ljava/lang/String;Ljava/lang/String;)V", say_of),
};
static const JNINativeMethod super_calls[] = {
	NATIVE("has", "(I)Z", has_super_call),
	NATIVE("isDoubtful", "(I)Z", is_doubtful),
};
static const JNINativeMethod clients[] = {
	NATIVE("pauseEvents", "()V", pause_clients),
	NATIVE("resumeEvents", "()V", resume_clients),
};
static const JNINativeMethod waymark[] = {NATIVE("probe", "()Z", probe)};

bool jvm_natives_register(const struct JNINativeInterface_ **env)
{
	return jvm_register_natives(env, "dev/waymark/agent/Recorder", recorder, sizeof recorder / sizeof *recorder) &&
	       jvm_register_natives(env, "dev/waymark/agent/SuperCalls", super_calls,
				    sizeof super_calls / sizeof *super_calls) &&
	       jvm_super_calls_begin(env) &&
	       jvm_register_natives(env, "dev/waymark/agent/Clients", clients, sizeof clients / sizeof *clients);
}

bool jvm_natives_announce(const struct JNINativeInterface_ **env)
{
	return jvm_register_natives(env, "dev/waymark/Waymark", waymark, sizeof waymark / sizeof *waymark);
}
