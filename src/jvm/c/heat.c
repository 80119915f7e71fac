/* heat.c - counts the calls of the last word of each thread that runs Java code. */
#include "jvm/c/heat.h"

#include <jvmti.h>

#include "jvm/c/contexts.h"
#include "jvm/c/methods.h"
#include "jvm/c/ticker.h"

enum {
	HZ = 997, /* a prime: not in step with what the program does */
};

/* Of Thread; written by jvm_heat_begin. */
static jfieldID word;

static bool is_running(jvmtiEnv *jvmti, jthread thread)
{
	jint state = 0;

	return (*jvmti)->GetThreadState(jvmti, thread, &state) == JVMTI_ERROR_NONE &&
	       (state & (JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE)) == JVMTI_THREAD_STATE_RUNNABLE;
}

static void look_at(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	int32_t sites[SITECODE_MAX_CALLS];
	size_t count;

	if (!is_running(jvmti, thread))
		return;
	count = jvm_word_calls((uint64_t)(*env)->GetLongField(env, thread, word), sites);
	for (size_t i = 0; count <= SITECODE_MAX_CALLS && i < count; i++)
		jvm_site_count(sites[i]);
}

static struct jvm_ticker ticker = {.name = "waymark heat", .look_at = look_at, .lock = PTHREAD_MUTEX_INITIALIZER};

bool jvm_heat_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");

	word = class ? (*env)->GetFieldID(env, class, "waymark$word", "J") : NULL;
	return word && jvm_ticker_begin(&ticker, jvmti, env, HZ);
}

void jvm_heat_end(void)
{
	jvm_ticker_end(&ticker);
}
