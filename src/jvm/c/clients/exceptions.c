/*
 * exceptions.c - the client `exceptions`: each exception that is thrown, once, wherever it is caught. One that is thrown on is known by a mark
 * of the rewriter's. Without one, with walks, it is known by the method that has caught it: that throws it again behind its handler's begin.
 */
#include "jvm/c/base/pause.h"
#include "jvm/c/base/java.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/event.h"

/* Written by begin, before the first event. */
static jfieldID thrown; /* of Thread: what its method throws on */
static jclass stack_overflow;
static bool is_walked;

/* Which of the thread's exceptions was caught last, and where; read and written by the thread alone. */
static _Thread_local struct {
	jweak exception;
	jmethodID catcher; /* NULL: none was, or by nobody */
	jlocation handler;
} caught __attribute__((tls_model("initial-exec")));

/* Is the exception only thrown on, by code that the rewriter has marked? Each mark is for the next event. */
static bool is_passed_on(JNIEnv *env, jthread thread, jobject exception)
{
	jobject passed = (*env)->GetObjectField(env, thread, thrown);

	if (!passed)
		return false;
	(*env)->SetObjectField(env, thread, thrown, NULL);
	return (*env)->IsSameObject(env, passed, exception);
}

static bool is_thrown_again(JNIEnv *env, jmethodID method, jlocation location, jobject exception)
{
	return caught.catcher && caught.catcher == method && location >= caught.handler &&
	       (*env)->IsSameObject(env, caught.exception, exception);
}

static void note_caught(JNIEnv *env, jobject exception, jmethodID catcher, jlocation handler)
{
	if (caught.exception)
		(*env)->DeleteWeakGlobalRef(env, caught.exception);
	caught.exception = catcher ? (*env)->NewWeakGlobalRef(env, exception) : NULL;
	caught.catcher = caught.exception ? catcher : NULL;
	caught.handler = handler;
}

/* A thread that has no stack left is not compared: that would run Java code. */
static void JNICALL exception_is_thrown(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
					jlocation location, jobject exception, jmethodID catcher, jlocation handler)
{
	bool is_short, is_old;
	jclass class;

	(void)jvmti;
	if (is_walked) {
		is_old = is_thrown_again(env, method, location, exception);
		note_caught(env, exception, catcher, handler);
	} else {
		is_old = is_passed_on(env, thread, exception);
	}
	if (is_old || !jvm_event_begin(env))
		return;
	is_short = (*env)->IsInstanceOf(env, exception, stack_overflow);
	class = (*env)->GetObjectClass(env, exception);
	wmrt_event(jvm_event_context(env, thread, is_short ? JVM_CHECK_NOT : JVM_CHECK_EVENT, class), "exception", 1);
	(*env)->DeleteLocalRef(env, class);
	jvm_event_end();
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->Exception = exception_is_thrown;
}

static bool begin(JNIEnv *env, const struct jvm_options *options)
{
	is_walked = jvm_options_walk(options);
	stack_overflow = jvm_find_class(env, "java/lang/StackOverflowError");
	if (is_walked)
		return stack_overflow;
	thrown = jvm_find_field(env, "java/lang/Thread", "waymark$thrown", "Ljava/lang/Throwable;");
	return thrown && stack_overflow;
}

const struct jvm_client jvm_client_exceptions = {
	.capabilities = {{{.can_generate_exception_events = 1}, "can_generate_exception_events"}},
	.places = JVM_PLACES_THROWS,
	.events = {JVMTI_EVENT_EXCEPTION},
	.listen = listen,
	.begin = begin,
};
