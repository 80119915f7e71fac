/*
 * natives.c - contexts of Java threads become contexts of the recorder.
 *
 * A context stack is the site numbers of the calls in progress. Every call pushes, so the id is always 0. The last site is no push if
 * it is the call of the capture itself.
 */
#include "jvm/c/natives.h"

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "jvm/c/methods.h"
#include "jvm/c/stack_prefix.h"
#include "recorder/event.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "recorder/token.h"
#include "waymark/abi.h"

enum {
	LINE_MAX = 8192, /* bytes of a description */
	SAID_MAX = 10,   /* differences that are printed */
};

/* Its own thread only. */
static _Thread_local bool is_main_thread;
static _Atomic uint64_t agreed, differed;
/* Made before the natives are registered. */
static pthread_key_t stack_key;

void jvm_say(const char *text)
{
	char buffer[LINE_MAX];
	struct wmrt_text line = {buffer, sizeof buffer - 1, 0};

	wmrt_text_add(&line, "waymark: ");
	wmrt_text_add(&line, text);
	if (!wmrt_text_fits(&line))
		line.len = line.size - 1;
	buffer[line.len++] = '\n';
	wmrt_sys3(SYS_write, 2, (long)buffer, (long)line.len);
}

void jvm_natives_main_thread(void)
{
	is_main_thread = true;
}

struct jvm_compared jvm_natives_compared(void)
{
	return (struct jvm_compared){atomic_load(&agreed), atomic_load(&differed)};
}

/* ---- contexts ---- */

/* Of the thread; freed when it ends. NULL without memory. */
static struct stack_prefix *thread_stack(void)
{
	struct stack_prefix *ret = pthread_getspecific(stack_key);

	if (ret)
		return ret;
	ret = calloc(1, sizeof *ret);
	if (ret && pthread_setspecific(stack_key, ret) != 0) {
		free(ret);
		ret = NULL;
	}
	return ret;
}

static void free_stack(void *stack)
{
	stack_prefix_deinit(stack);
	free(stack);
}

/* sites: an int[] of at least `depth` elements. */
static wm_context context_of(JNIEnv *env, jintArray sites, jint depth)
{
	wm_context ret = {.epoch = JVM_EPOCH, .prefix = WM_PREFIX_LOST};
	struct stack_prefix *stack = thread_stack();
	size_t pushes = (size_t)depth;

	if (!stack || !stack_prefix_reserve(stack, pushes))
		return ret;
	(*env)->GetIntArrayRegion(env, sites, 0, depth, stack->fresh);
	if (pushes && jvm_site_is_capture(stack->fresh[pushes - 1]))
		ret.site = jvm_site_record(stack->fresh[--pushes]);
	ret.prefix = stack_prefix_find(stack, is_main_thread ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD, pushes);
	return ret;
}

static jlong capture(JNIEnv *env, jclass class, jintArray sites, jint depth)
{
	wm_context c = context_of(env, sites, depth);

	(void)class;
	return (jlong)((uint64_t)c.prefix << 32 | c.site);
}

static jstring token(JNIEnv *env, jclass class, jintArray sites, jint depth)
{
	char text[WM_TOKEN_MAX];

	(void)class;
	wmrt_token(context_of(env, sites, depth), text, sizeof text);
	return (*env)->NewStringUTF(env, text);
}

static void event(JNIEnv *env, jclass class, jintArray sites, jint depth, jstring name, jlong value)
{
	const char *text = (*env)->GetStringUTFChars(env, name, NULL);

	(void)class;
	if (!text)
		return;
	wmrt_event(context_of(env, sites, depth), text, (uint64_t)value);
	(*env)->ReleaseStringUTFChars(env, name, text);
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

static jint add_class(JNIEnv *env, jclass class, jstring loader, jstring name, jstring file)
{
	const char *l = open_string(env, loader), *n = open_string(env, name), *f = open_string(env, file);
	jint ret = l && n ? jvm_class_add(l, n, f) : JVM_NONE;

	(void)class;
	close_string(env, loader, l);
	close_string(env, name, n);
	close_string(env, file, f);
	return ret;
}

static jint add_method(JNIEnv *env, jclass class, jint owner, jstring name, jstring descriptor, jint line)
{
	const char *n = open_string(env, name), *d = open_string(env, descriptor);
	jint ret = n && d ? jvm_method_add(owner, n, d, (uint32_t)line) : JVM_NONE;

	(void)class;
	close_string(env, name, n);
	close_string(env, descriptor, d);
	return ret;
}

static jint add_site(JNIEnv *env, jclass class, jint method, jint kind, jint position, jint line, jstring callee)
{
	const char *c = open_string(env, callee);
	jint ret = jvm_site_add(method, (enum wmk_site_kind)kind, (uint32_t)position, (uint32_t)line, c);

	(void)class;
	close_string(env, callee, c);
	return ret;
}

/* ---- the oracle ---- */

static jstring describe(JNIEnv *env, jclass class, jint site)
{
	char text[LINE_MAX];

	(void)class;
	jvm_site_describe(site, text, sizeof text);
	return (*env)->NewStringUTF(env, text);
}

static void say(JNIEnv *env, jclass class, jstring line)
{
	const char *text = open_string(env, line);

	(void)class;
	if (text)
		jvm_say(text);
	close_string(env, line, text);
}

static void compared(JNIEnv *env, jclass class, jstring what)
{
	if (!what)
		atomic_fetch_add(&agreed, 1);
	else if (atomic_fetch_add(&differed, 1) < SAID_MAX)
		say(env, class, what);
}

static jboolean probe(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return JNI_TRUE;
}

/* ---- registration ---- */

#define NATIVE(java_name, signature, function) {(char *)(java_name), (char *)(signature), (void *)(function)}

static const JNINativeMethod recorder[] = {
	NATIVE("capture", "([II)J", capture),
	NATIVE("token", "([II)Ljava/lang/String;", token),
	NATIVE("event", "([IILjava/lang/String;J)V", event),
	NATIVE("addClass", "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)I", add_class),
	NATIVE("addMethod", "(ILjava/lang/String;Ljava/lang/String;I)I", add_method),
	NATIVE("addSite", "(IIIILjava/lang/String;)I", add_site),
	NATIVE("describe", "(I)Ljava/lang/String;", describe),
	NATIVE("compared", "(Ljava/lang/String;)V", compared),
	NATIVE("say", "(Ljava/lang/String;)V", say),
};
static const JNINativeMethod waymark[] = {NATIVE("probe", "()Z", probe)};

static bool register_in(JNIEnv *env, const char *name, const JNINativeMethod *methods, jint count)
{
	jclass class = (*env)->FindClass(env, name);
	bool is_registered = class && (*env)->RegisterNatives(env, class, methods, count) == JNI_OK;

	if (!is_registered)
		(*env)->ExceptionClear(env);
	return is_registered;
}

bool jvm_natives_register(const struct JNINativeInterface_ **env)
{
	return pthread_key_create(&stack_key, free_stack) == 0 &&
	       register_in(env, "dev/waymark/agent/Recorder", recorder, sizeof recorder / sizeof *recorder) &&
	       register_in(env, "dev/waymark/Waymark", waymark, sizeof waymark / sizeof *waymark);
}
