/*
 * parks.c - finds the virtual machine's own function where it registers its native methods: that is asked for once more, with a RegisterNatives
 * that registers nothing and looks.
 *
 * The virtual machine warns, on standard output, where a method of the JDK is bound anew by another class than one of the boot loader. So a
 * class there calls who binds.
 */
#include "jvm/c/clients/parks.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <string.h>

#include "jvm/c/base/gate.h"
#include "jvm/c/base/java.h"
#include "jvm/c/clients/event.h"
#include "recorder/clock.h"
#include "recorder/process.h"

typedef void(JNICALL *park_function)(JNIEnv *env, jobject unsafe, jboolean is_absolute, jlong time);

/* Written by begin, before the method is bound. */
static jvmtiEnv *tools;
static JavaVM *machine;
static jclass unsafe_class; /* NULL: nothing is bound yet */
static jfieldID blocker_of;
static jclass lock_classes[3], latch_class;
static park_function own_park;
static jclass binder;
static jmethodID call_binder;
/* What is to be bound, for the binder. */
static park_function wanted;
static _Atomic bool is_on;

/* ---- a park ---- */

/* A lock that others have; a latch, a condition or a future is none. */
static bool is_lock(JNIEnv *env, jobject blocker)
{
	if (!blocker || (*env)->IsInstanceOf(env, blocker, latch_class))
		return false;
	for (size_t i = 0; i < sizeof lock_classes / sizeof *lock_classes; i++)
		if ((*env)->IsInstanceOf(env, blocker, lock_classes[i]))
			return true;
	return false;
}

struct wait {
	wm_context context;
	const char *name;
	uint32_t generation; /* of the recording: what waits longer than that is in none */
};

/* False: it is no event. */
static bool begin_wait(JNIEnv *env, struct wait *ret)
{
	jthread thread = NULL;
	jobject blocker;
	jclass class;

	if (!atomic_load(&is_on) || !jvm_event_begin(env))
		return false;
	(*tools)->GetCurrentThread(tools, &thread);
	blocker = thread ? (*env)->GetObjectField(env, thread, blocker_of) : NULL;
	class = blocker ? (*env)->GetObjectClass(env, blocker) : NULL;
	ret->name = is_lock(env, blocker) ? "contention" : "parked";
	ret->context = jvm_event_context(env, thread, JVM_CHECK_NOT, class);
	ret->generation = wmrt_process.generation;
	(*env)->DeleteLocalRef(env, class);
	(*env)->DeleteLocalRef(env, blocker);
	(*env)->DeleteLocalRef(env, thread);
	jvm_event_end();
	return true;
}

/* The context is that of before the wait, which the time for making it is no part of. */
static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean is_absolute, jlong time)
{
	struct wait wait;
	bool is_event = begin_wait(env, &wait);
	uint64_t since_ns = is_event ? wmrt_now_ns() : 0;

	own_park(env, unsafe, is_absolute, time);
	if (!is_event || !jvm_gate_enter())
		return;
	if (wait.generation == wmrt_process.generation)
		wmrt_event(wait.context, wait.name, wmrt_now_ns() - since_ns);
	jvm_gate_leave();
}

/* ---- the virtual machine's own function ---- */

static _Thread_local bool is_looking __attribute__((tls_model("initial-exec")));
static jint(JNICALL *register_natives)(JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count);

static jint JNICALL look_at_natives(JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count)
{
	if (!is_looking)
		return register_natives(env, class, methods, count);
	for (jint i = 0; i < count; i++)
		if (strcmp(methods[i].name, "park") == 0 && strcmp(methods[i].signature, "(ZJ)V") == 0)
			*(void **)&own_park = methods[i].fnPtr;
	return JNI_OK;
}

static bool find_own(jvmtiEnv *jvmti, JNIEnv *env)
{
	jmethodID method = jvm_find_static(env, unsafe_class, "registerNatives", "()V");
	jniNativeInterface *before = NULL, *looking = NULL;

	if (method && (*jvmti)->GetJNIFunctionTable(jvmti, &before) == JVMTI_ERROR_NONE &&
	    (*jvmti)->GetJNIFunctionTable(jvmti, &looking) == JVMTI_ERROR_NONE) {
		register_natives = before->RegisterNatives;
		looking->RegisterNatives = look_at_natives;
		if ((*jvmti)->SetJNIFunctionTable(jvmti, looking) == JVMTI_ERROR_NONE) {
			is_looking = true;
			(*env)->CallStaticVoidMethod(env, unsafe_class, method);
			is_looking = false;
			(*jvmti)->SetJNIFunctionTable(jvmti, before);
		}
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)before);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)looking);
	return !jvm_drop_thrown(env) && own_park;
}

/* ---- binding ---- */

/* final class Binder { static native void bind(); static void call() { bind(); } } */
#define UTF8(length, text) "\x01\x00" length text
static const char binder_file[] = "\xca\xfe\xba\xbe\x00\x00\x00\x34"    /* Java 8 */
				  "\x00\x0b"                            /* constants */
	UTF8("\x18", "dev/waymark/agent/Binder") "\x07\x00\x01"         /* 1, 2 */
	UTF8("\x10", "java/lang/Object") "\x07\x00\x03"                 /* 3, 4 */
	UTF8("\x04", "bind") UTF8("\x03", "()V") "\x0c\x00\x05\x00\x06" /* 5, 6, 7 */
						 "\x0a\x00\x02\x00\x07" UTF8("\x04", "call")
							 UTF8("\x04", "Code") /* 8, 9, 10 */
	"\x00\x30\x00\x02\x00\x04\x00\x00\x00\x00"                            /* no interfaces, no fields */
	"\x00\x02"                                                            /* methods */
	"\x01\x08\x00\x05\x00\x06\x00\x00"                                    /* bind */
	"\x00\x08\x00\x09\x00\x06\x00\x01"                                    /* call */
	"\x00\x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x04"            /* its code */
	"\xb8\x00\x08\xb1"                                                    /* invokestatic 8; return */
	"\x00\x00\x00\x00"                                                    /* no handlers, no attributes */
	"\x00\x00";

static void JNICALL bind(JNIEnv *env, jclass class)
{
	const JNINativeMethod method = {"park", "(ZJ)V", (void *)wanted};

	(void)class;
	(*env)->RegisterNatives(env, unsafe_class, &method, 1);
}

static bool find_binder(JNIEnv *env)
{
	static const JNINativeMethod method = {"bind", "()V", (void *)bind};
	jclass class = (*env)->DefineClass(env, "dev/waymark/agent/Binder", NULL, (const jbyte *)binder_file,
					   sizeof binder_file - 1);

	if (jvm_drop_thrown(env) || !class)
		return false;
	binder = (*env)->NewGlobalRef(env, class);
	(*env)->DeleteLocalRef(env, class);
	call_binder = jvm_find_static(env, binder, "call", "()V");
	return (*env)->RegisterNatives(env, binder, &method, 1) == JNI_OK && call_binder;
}

static bool bind_to(JNIEnv *env, park_function function)
{
	wanted = function;
	(*env)->CallStaticVoidMethod(env, binder, call_binder);
	return !jvm_drop_thrown(env);
}

static bool find_all(jvmtiEnv *jvmti, JNIEnv *env)
{
	static const char *const names[] = {"java/util/concurrent/locks/AbstractQueuedSynchronizer",
					    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
					    "java/util/concurrent/locks/StampedLock"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		lock_classes[i] = jvm_find_class(env, names[i]);
	latch_class = jvm_find_class(env, "java/util/concurrent/CountDownLatch$Sync");
	blocker_of = jvm_find_field(env, "java/lang/Thread", "parkBlocker", "Ljava/lang/Object;");
	unsafe_class = jvm_find_class(env, "jdk/internal/misc/Unsafe");
	return lock_classes[0] && lock_classes[1] && lock_classes[2] && latch_class && blocker_of && unsafe_class &&
	       (*env)->GetJavaVM(env, &machine) == JNI_OK && find_own(jvmti, env) && find_binder(env);
}

bool jvm_parks_begin(jvmtiEnv *jvmti, JNIEnv *env)
{
	static bool is_known;

	tools = jvmti;
	is_known = is_known || find_all(jvmti, env);
	if (!is_known)
		return false;
	atomic_store(&is_on, true);
	return bind_to(env, park);
}

void jvm_parks_end(void)
{
	JNIEnv *env = NULL;

	if (atomic_exchange(&is_on, false) && (*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) == JNI_OK)
		bind_to(env, own_park);
}
