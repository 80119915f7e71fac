/* walked_natives.c - the first call registers the others, in the classes of the loader that all others ask. */
#include "jvm/c/bridge/walked_natives.h"

#include <jni.h>
#include <stdatomic.h>

#include "jvm/c/base/java.h"
#include "jvm/c/base/pause.h"
#include "jvm/c/bridge/natives.h"
#include "jvm/c/walk/walk.h"
#include "recorder/event.h"
#include "recorder/task.h"
#include "waymark/abi.h"

enum {
	OWN_FRAMES = 2, /* of Walker.capture and of its caller */
};

static _Atomic bool is_on;

JNIEXPORT jboolean JNICALL Java_dev_waymark_Waymark_probe(JNIEnv *env, jclass class);

static jlong capture(JNIEnv *env, jclass class)
{
	wm_context context;

	(void)class;
	jvm_pause();
	context = wmrt_in_task(jvm_walk_here(env, OWN_FRAMES, NULL));
	jvm_resume();
	return jvm_natives_number(context);
}

static wm_context context_of(jlong context)
{
	return jvm_natives_context(context, WM_EPOCH_WALKED);
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

static void begin_task(JNIEnv *env, jclass class, jlong enqueued, jlong here)
{
	(void)env, (void)class;
	jvm_natives_begin_task(enqueued, here, WM_EPOCH_WALKED);
}

static void end_task(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	wmrt_task_end();
}

static jboolean probe(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return JNI_TRUE;
}

#define NATIVE(java_name, signature, function) {(char *)(java_name), (char *)(signature), (void *)(function)}

static const JNINativeMethod walker[] = {
	NATIVE("capture", "()J", capture),
	NATIVE("token", "(J)Ljava/lang/String;", token),
	NATIVE("event", "(JLjava/lang/String;J)V", event),
	NATIVE("beginTask", "(JJ)V", begin_task),
	NATIVE("endTask", "()V", end_task),
	NATIVE("probe", "()Z", probe),
};

/* Of a copy that the program has brought, too, whose other classes are not the agent's. */
jboolean JNICALL Java_dev_waymark_Waymark_probe(JNIEnv *env, jclass class)
{
	jclass own;
	bool is_own;

	if (!atomic_load(&is_on))
		return JNI_FALSE;
	own = (*env)->FindClass(env, "dev/waymark/Waymark");
	is_own = own && (*env)->IsSameObject(env, own, class);
	jvm_drop_thrown(env);
	(*env)->DeleteLocalRef(env, own);
	return is_own && jvm_register_natives(env, "dev/waymark/agent/Walker", walker, sizeof walker / sizeof *walker);
}

void jvm_walked_natives_announce(void)
{
	atomic_store(&is_on, true);
}
