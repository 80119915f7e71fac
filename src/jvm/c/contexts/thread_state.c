/* thread_state.c - reads fields by JNI, and has the words taken apart. Of classes only what is registered once is kept. */
#include "jvm/c/contexts/thread_state.h"

#include <jni.h>
#include <stdlib.h>

#include "jvm/c/contexts/contexts.h"
#include "jvm/c/contexts/lucce_contexts.h"
#include "jvm/c/codes/methods.h"
#include "jvm/c/base/java.h"
#include "waymark/abi.h"

enum {
	WORDS_AT_ONCE = 128,
};

/* Written by jvm_thread_state_init in VMInit, before the first event; read by any thread from then on. */
static struct {
	bool is_lucce;
	jfieldID word, words, contexts, version, site; /* of Thread */
	jfieldID root, prefix;                         /* of ThreadContexts, of ThreadRoot */
	jmethodID make_prefix;
	jfieldID doubtful; /* of SuperCalls: by space */
	jclass super_calls;
	jfieldID base; /* of LucceContexts */
} ids;

static void find_doubtful(JNIEnv *env)
{
	ids.super_calls = jvm_find_class(env, "dev/waymark/agent/SuperCalls");
	ids.doubtful = ids.super_calls ? (*env)->GetStaticFieldID(env, ids.super_calls, "DOUBTFUL", "[Z") : NULL;
	jvm_drop_thrown(env);
}

bool jvm_thread_state_init(const struct JNINativeInterface_ **env, bool is_lucce)
{
	ids.is_lucce = is_lucce;
	ids.word = jvm_find_field(env, "java/lang/Thread", "waymark$word", "J");
	ids.contexts =
		jvm_find_field(env, "java/lang/Thread", "waymark$contexts", "Ldev/waymark/agent/ThreadContexts;");
	ids.version = jvm_find_field(env, "java/lang/Thread", "waymark$version", "J");
	ids.site = jvm_find_field(env, "java/lang/Thread", "waymark$site", "I");
	ids.root = jvm_find_field(env, "dev/waymark/agent/ThreadContexts", "root", "Ldev/waymark/agent/ThreadRoot;");
	ids.prefix = jvm_find_field(env, "dev/waymark/agent/ThreadRoot", "prefix", "I");
	ids.make_prefix = jvm_find_method(env, "dev/waymark/agent/ThreadRoot", "prefix", "()I");
	ids.words = jvm_find_field(env, "java/lang/Thread", "waymark$words", "[J");
	ids.base = jvm_find_field(env, "dev/waymark/agent/LucceContexts", "base", "I");
	find_doubtful(env);
	return ids.base && ids.doubtful && ids.word && ids.contexts && ids.version && ids.site && ids.root &&
	       ids.prefix && ids.make_prefix && ids.words;
}

void jvm_thread_state_read(const struct JNINativeInterface_ **env, jobject thread, struct jvm_thread_state *ret)
{
	jobject contexts = (*env)->GetObjectField(env, thread, ids.contexts);

	*ret = (struct jvm_thread_state){.word = (uint64_t)(*env)->GetLongField(env, thread, ids.word),
					 .site = JVM_NONE};
	if (!contexts)
		return;
	ret->root = (*env)->GetObjectField(env, contexts, ids.root);
	if (!ids.is_lucce) {
		ret->words = (*env)->GetObjectField(env, thread, ids.words);
		return;
	}
	ret->base = (uint32_t)(*env)->GetIntField(env, contexts, ids.base);
	ret->version = (uint64_t)(*env)->GetLongField(env, thread, ids.version);
	ret->site = (*env)->GetIntField(env, thread, ids.site) - 1;
}

bool jvm_thread_state_is_doubtful(const struct JNINativeInterface_ **env, const struct jvm_thread_state *state)
{
	jobject doubtful = (*env)->GetStaticObjectField(env, ids.super_calls, ids.doubtful);
	uint64_t word = state->word;
	uint32_t length;
	jboolean ret = JNI_FALSE;

	if (ids.is_lucce)
		word = state->site == JVM_NONE ? 0 : jvm_site_code(state->site, &length);
	(*env)->GetBooleanArrayRegion(env, doubtful, (jint)sitecode_space(word), 1, &ret);
	return ret;
}

bool jvm_thread_state_is_native(const struct jvm_thread_state *state)
{
	if (ids.is_lucce)
		return state->site == JVM_NONE && state->base;
	return state->word && !sitecode_space(state->word) && sitecode_index(state->word) != SITECODE_LOST_INDEX;
}

/* How many words are pushed; those of a lost context mean nothing. */
static jint pushed(const struct jvm_thread_state *state)
{
	uint32_t index = sitecode_index(state->word);

	return !state->words || index == SITECODE_LOST_INDEX ? 0 : (jint)index;
}

void jvm_thread_state_keep(const struct JNINativeInterface_ **env, struct jvm_thread_state *state, int64_t *copy)
{
	jint count = pushed(state);

	if (count)
		(*env)->GetLongArrayRegion(env, state->words, 0, count, (jlong *)copy);
	state->copy = copy;
}

/* Java makes it when it is asked for the first time. */
static uint32_t root_prefix(JNIEnv *env, const struct jvm_thread_state *state)
{
	jint ret = state->base   ? (jint)state->base
		   : state->root ? (*env)->GetIntField(env, state->root, ids.prefix)
				 : (jint)WM_PREFIX_THREAD;

	if (!ret)
		ret = (*env)->CallIntMethod(env, state->root, ids.make_prefix);
	if (!jvm_drop_thrown(env))
		return (uint32_t)ret;
	return WM_PREFIX_LOST;
}

static wm_context context_of_words(JNIEnv *env, const struct jvm_thread_state *state)
{
	struct jvm_calls calls = jvm_calls_of_root(root_prefix(env, state));
	jint count = pushed(state), part;
	jlong words[WORDS_AT_ONCE];

	for (jint i = 0; i < count; i += part) {
		const int64_t *from = state->copy ? state->copy + i : (const int64_t *)words;

		part = count - i < WORDS_AT_ONCE ? count - i : WORDS_AT_ONCE;
		if (!state->copy)
			(*env)->GetLongArrayRegion(env, state->words, i, part, words);
		for (jint k = 0; k < part; k++)
			calls = jvm_calls_add(calls, (uint64_t)from[k]);
	}
	return jvm_context(calls, state->word);
}

/* Adds the sites of a word behind the others; there is room for all that a word can have. False: it is no word. */
static bool add_sites(uint64_t word, int32_t *sites, size_t *count)
{
	size_t own = jvm_word_calls(word, sites + *count);

	if (own > SITECODE_MAX_CALLS)
		return false;
	*count += own;
	return true;
}

int32_t *jvm_thread_state_sites(const struct jvm_thread_state *state, size_t *count)
{
	jint below = pushed(state);
	bool is_lost = ids.is_lucce || sitecode_index(state->word) == SITECODE_LOST_INDEX;
	int32_t *ret = is_lost ? NULL : malloc(((size_t)below + 1) * SITECODE_MAX_CALLS * sizeof *ret);

	*count = 0;
	for (jint i = 0; ret && !is_lost && i < below; i++)
		is_lost = !add_sites((uint64_t)state->copy[i], ret, count);
	if (ret && !is_lost)
		is_lost = !add_sites(state->word, ret, count);
	if (!is_lost)
		return ret;
	free(ret);
	return NULL;
}

wm_context jvm_thread_state_context(const struct JNINativeInterface_ **env, const struct jvm_thread_state *state)
{
	const struct jvm_lucce_call call = {state->site, {state->word, state->version}};

	return ids.is_lucce ? jvm_lucce_context(root_prefix(env, state), call) : context_of_words(env, state);
}
