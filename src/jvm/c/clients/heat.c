/* heat.c - counts the calls of the last word of each thread that runs Java code, and the bits that calls take, over as many words as matter. */
#include "jvm/c/clients/heat.h"

#include <jvmti.h>

#include "jvm/c/base/java.h"
#include "jvm/c/contexts/contexts.h"
#include "jvm/c/codes/methods.h"
#include "jvm/c/clients/carrier.h"
#include "jvm/c/codes/profile.h"
#include "jvm/c/clients/ticker.h"

enum {
	HZ = 997, /* a prime: not in step with what the program does */
};

/* Fields of Thread; written by jvm_heat_begin, before the ticker runs. */
static jfieldID word, words;

static bool is_running(jvmtiEnv *jvmti, jthread thread)
{
	jint state = 0;

	return (*jvmti)->GetThreadState(jvmti, thread, &state) == JVMTI_ERROR_NONE &&
	       (state & (JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE)) == JVMTI_THREAD_STATE_RUNNABLE;
}

/* The calls of a word count. *bits: of the calls above it; its own are added. */
static bool count_calls(uint64_t of, bool is_last, uint32_t *bits)
{
	int32_t sites[SITECODE_MAX_CALLS];
	size_t count = jvm_word_calls(of, sites);
	uint32_t length;

	if (count > SITECODE_MAX_CALLS)
		return false;
	while (count-- > 0) {
		(void)jvm_site_code(sites[count], &length);
		*bits += length;
		jvm_method_count_bits(jvm_site_method(sites[count]), *bits);
		if (is_last)
			jvm_site_count(sites[count]);
	}
	return true;
}

/* The thread runs on: what it pushes meanwhile may be taken for what it had pushed. */
static void look_at(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	uint64_t last;
	jlongArray pushed;
	uint32_t bits = 0;
	jint i;

	thread = jvm_carrier_mounted(jvmti, thread); /* whose carrier waits */
	if (!is_running(jvmti, thread))
		return;
	last = (uint64_t)(*env)->GetLongField(env, thread, word);
	pushed = (*env)->GetObjectField(env, thread, words);
	i = (jint)sitecode_index(last);
	if (!pushed || i > (*env)->GetArrayLength(env, pushed) || !count_calls(last, true, &bits))
		return;
	while (i-- > 0 && bits <= JVM_PROFILE_MOST_ROOM) {
		jlong below = 0;

		(*env)->GetLongArrayRegion(env, pushed, i, 1, &below);
		if (!sitecode_space((uint64_t)below) || !count_calls((uint64_t)below, false, &bits))
			return;
	}
}

static struct jvm_ticker ticker = {.name = "waymark heat", .look_at = look_at, .lock = PTHREAD_MUTEX_INITIALIZER};

bool jvm_heat_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env)
{
	word = jvm_find_field(env, "java/lang/Thread", "waymark$word", "J");
	words = jvm_find_field(env, "java/lang/Thread", "waymark$words", "[J");
	return word && words && jvm_ticker_begin(&ticker, jvmti, env, HZ);
}

void jvm_heat_end(void)
{
	jvm_ticker_end(&ticker);
}
