/* exceptions.c - the client `exceptions`: each exception that is thrown, once, wherever it is caught. */
#include "jvm/c/base/pause.h"
#include "jvm/c/base/java.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/event.h"

/* Written by begin, before the first event. */
static jfieldID thrown; /* of Thread: what its method throws on */
static jclass stack_overflow;

/* Is the exception only thrown on, by code that the rewriter has marked? Each mark is for the next event. */
static bool is_passed_on(JNIEnv *env, jthread thread, jobject exception)
{
	jobject passed = (*env)->GetObjectField(env, thread, thrown);

	if (!passed)
		return false;
	(*env)->SetObjectField(env, thread, thrown, NULL);
	return (*env)->IsSameObject(env, passed, exception);
}

/* A thread that has no stack left is not compared: that would run Java code. */
static void JNICALL exception_is_thrown(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
					jlocation location, jobject exception, jmethodID catcher, jlocation handler)
{
	bool is_short;

	(void)jvmti, (void)method, (void)location, (void)catcher, (void)handler;
	if (is_passed_on(env, thread, exception) || !jvm_event_begin(env))
		return;
	is_short = (*env)->IsInstanceOf(env, exception, stack_overflow);
	wmrt_event(jvm_event_context(env, thread, is_short ? JVM_CHECK_NOT : JVM_CHECK_EVENT), "exception", 1);
	jvm_resume();
}

static void listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->Exception = exception_is_thrown;
}

static bool begin(JNIEnv *env, const struct jvm_options *options)
{
	(void)options;
	thrown = jvm_find_field(env, "java/lang/Thread", "waymark$thrown", "Ljava/lang/Throwable;");
	stack_overflow = jvm_find_class(env, "java/lang/StackOverflowError");
	return thrown && stack_overflow;
}

const struct jvm_client jvm_client_exceptions = {
	.capabilities = {{{.can_generate_exception_events = 1}, "can_generate_exception_events"}},
	.places = JVM_PLACES_THROWS,
	.events = {JVMTI_EVENT_EXCEPTION},
	.listen = listen,
	.begin = begin,
};
