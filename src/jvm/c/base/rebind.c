/*
 * rebind.c - finds the virtual machine's own function where it registers its native methods: that is asked for once more, with a RegisterNatives
 * that registers nothing and looks.
 *
 * The virtual machine warns, on standard output, where a method of the JDK is bound anew by another class than one of the boot loader. So a
 * class there calls who binds.
 */
#include "jvm/c/base/rebind.h"

#include <string.h>

#include "jvm/c/base/java.h"

/* What is looked for, by the thread that has it asked for. */
static _Thread_local struct {
	const char *name, *descriptor; /* NULL: nothing is */
	void *function;
} wanted __attribute__((tls_model("initial-exec")));
static jint(JNICALL *register_natives)(JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count);

/* Written by the first jvm_rebind_find. */
static jclass binder;
static jmethodID call_binder;
/* What is to be bound, for the binder. */
static jclass bound_class;
static JNINativeMethod bound_method;

/* ---- the virtual machine's own function ---- */

static jint JNICALL look_at_natives(JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count)
{
	if (!wanted.name)
		return register_natives(env, class, methods, count);
	for (jint i = 0; i < count; i++)
		if (strcmp(methods[i].name, wanted.name) == 0 && strcmp(methods[i].signature, wanted.descriptor) == 0)
			wanted.function = methods[i].fnPtr;
	return JNI_OK;
}

static void have_registered(jvmtiEnv *jvmti, JNIEnv *env, jclass class)
{
	jmethodID method = jvm_find_static(env, class, "registerNatives", "()V");
	jniNativeInterface *before = NULL, *looking = NULL;

	if (method && (*jvmti)->GetJNIFunctionTable(jvmti, &before) == JVMTI_ERROR_NONE &&
	    (*jvmti)->GetJNIFunctionTable(jvmti, &looking) == JVMTI_ERROR_NONE) {
		register_natives = before->RegisterNatives;
		looking->RegisterNatives = look_at_natives;
		if ((*jvmti)->SetJNIFunctionTable(jvmti, looking) == JVMTI_ERROR_NONE) {
			(*env)->CallStaticVoidMethod(env, class, method);
			(*jvmti)->SetJNIFunctionTable(jvmti, before);
		}
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)before);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)looking);
	jvm_drop_thrown(env);
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
	(void)class;
	(*env)->RegisterNatives(env, bound_class, &bound_method, 1);
}

static bool find_binder(JNIEnv *env)
{
	static const JNINativeMethod method = {"bind", "()V", (void *)bind};
	jclass class;

	if (binder)
		return call_binder;
	class = (*env)->DefineClass(env, "dev/waymark/agent/Binder", NULL, (const jbyte *)binder_file,
				    sizeof binder_file - 1);
	if (jvm_drop_thrown(env) || !class)
		return false;
	binder = (*env)->NewGlobalRef(env, class);
	(*env)->DeleteLocalRef(env, class);
	call_binder = jvm_find_static(env, binder, "call", "()V");
	return (*env)->RegisterNatives(env, binder, &method, 1) == JNI_OK && call_binder;
}

bool jvm_rebind_find(jvmtiEnv *jvmti, JNIEnv *env, jclass class, const char *name, const char *descriptor, void **ret)
{
	wanted.function = NULL;
	wanted.descriptor = descriptor;
	wanted.name = name;
	have_registered(jvmti, env, class);
	wanted.name = NULL;
	*ret = wanted.function;
	return wanted.function && find_binder(env);
}

bool jvm_rebind(JNIEnv *env, jclass class, const char *name, const char *descriptor, void *function)
{
	bound_class = class;
	bound_method = (JNINativeMethod){(char *)name, (char *)descriptor, function};
	(*env)->CallStaticVoidMethod(env, binder, call_binder);
	return !jvm_drop_thrown(env);
}
