/* contexts.c - takes words apart. A prefix is looked up when the next call is another one: a recursion is one entry. */
#include "jvm/c/contexts/contexts.h"

#include "jvm/c/codes/methods.h"
#include "recorder/prefix_table.h"

/* The last call is taken off first. */
size_t jvm_word_calls(uint64_t word, int32_t sites[SITECODE_MAX_CALLS])
{
	int32_t found[SITECODE_MAX_CALLS];
	size_t count = 0;

	while (sitecode_space(word) && !sitecode_is_start(sitecode_payload(word))) {
		int32_t site = count < SITECODE_MAX_CALLS ? jvm_site_take(&word) : JVM_NONE;

		if (site == JVM_NONE)
			return SITECODE_MAX_CALLS + 1;
		found[count++] = site;
	}
	for (size_t i = 0; i < count; i++)
		sites[i] = found[count - 1 - i];
	return count;
}

struct jvm_calls jvm_calls_of_root(uint32_t root)
{
	return (struct jvm_calls){.prefix = root, .below = root};
}

static uint32_t look_up(const struct jvm_calls *calls)
{
	uint32_t record;

	if (!calls->run || calls->prefix == WM_PREFIX_LOST)
		return calls->prefix;
	record = jvm_site_record(calls->site);
	return record ? wmrt_intern(calls->below, JVM_EPOCH, 0, record, calls->run) : WM_PREFIX_LOST;
}

static void add_site(struct jvm_calls *calls, int32_t site)
{
	if (calls->run && calls->site == site) {
		calls->run++;
		return;
	}
	calls->below = look_up(calls);
	if (calls->below == WM_PREFIX_LOST)
		calls->prefix = WM_PREFIX_LOST;
	calls->site = site;
	calls->run = 1;
}

static struct jvm_calls lost(void)
{
	return jvm_calls_of_root(WM_PREFIX_LOST);
}

struct jvm_calls jvm_calls_add(struct jvm_calls calls, uint64_t word)
{
	int32_t sites[SITECODE_MAX_CALLS];
	size_t count = jvm_word_calls(word, sites);

	if (word && !sitecode_space(word))
		return jvm_calls_of_root((uint32_t)sitecode_payload(word));
	if (count > SITECODE_MAX_CALLS)
		return lost();
	for (size_t i = 0; i < count; i++)
		add_site(&calls, sites[i]);
	calls.prefix = look_up(&calls);
	return calls;
}

/* sites: outermost first, above `calls`. */
static wm_context context_of(struct jvm_calls calls, const int32_t *sites, size_t count)
{
	wm_context ret = {.epoch = JVM_EPOCH};

	for (size_t i = 0; i < count; i++)
		if (i + 1 == count && jvm_site_is_place(sites[i]))
			ret.site = jvm_place_record(sites[i]);
		else
			add_site(&calls, sites[i]);
	ret.prefix = look_up(&calls);
	return ret;
}

wm_context jvm_context(struct jvm_calls calls, uint64_t word)
{
	int32_t sites[SITECODE_MAX_CALLS];
	size_t count = jvm_word_calls(word, sites);

	if (count > SITECODE_MAX_CALLS || sitecode_index(word) == SITECODE_LOST_INDEX)
		return (wm_context){.epoch = JVM_EPOCH, .prefix = WM_PREFIX_LOST};
	return context_of(calls, sites, count);
}

wm_context jvm_context_of_sites(uint32_t root, const int32_t *sites, size_t count)
{
	return context_of(jvm_calls_of_root(root), sites, count);
}

uint32_t jvm_prefix(uint32_t below, const int32_t *sites, size_t count)
{
	struct jvm_calls calls = jvm_calls_of_root(below);

	for (size_t i = 0; i < count; i++)
		add_site(&calls, sites[i]);
	return look_up(&calls);
}

uint32_t jvm_thread_root(uint32_t starter, const int32_t *sites, size_t count)
{
	uint32_t prefix = jvm_prefix(starter, sites, count);

	if (prefix != WM_PREFIX_LOST)
		prefix = wmrt_intern(prefix, WM_EPOCH_COMPILED, 0, WM_SITE_THREAD, 1);
	return prefix == WM_PREFIX_LOST ? WM_PREFIX_THREAD : prefix;
}
