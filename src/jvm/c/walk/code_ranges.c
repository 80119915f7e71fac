/*
 * code_ranges.c - an array that a signal handler reads without a lock: where a range is changed, its end is 0. Readers are rare, writers, too: it
 * is searched from end to end.
 */
#include "jvm/c/walk/code_ranges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "recorder/sys.h"

enum {
	MAX_RANGES = 1 << 17,
};

struct entry {
	_Atomic uintptr_t end; /* 0: free */
	_Atomic uint32_t version;
	struct jvm_code_range range;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
/* Those behind it are free; grows, under the lock. */
static _Atomic uint32_t count;
static uint32_t first_free; /* a hint, under the lock */

bool jvm_code_ranges_init(void)
{
	entries = wmrt_map_memory(MAX_RANGES * sizeof *entries);
	return entries;
}

/* Under the lock. NULL: there are too many. */
static struct entry *take_entry(uintptr_t start)
{
	uint32_t used = atomic_load(&count);

	for (uint32_t i = 0; i < used; i++)
		if (entries[i].range.start == start && atomic_load(&entries[i].end))
			return &entries[i];
	while (first_free < used && atomic_load(&entries[first_free].end))
		first_free++;
	if (first_free < used)
		return &entries[first_free];
	if (used == MAX_RANGES)
		return NULL;
	atomic_store(&count, used + 1);
	return &entries[used];
}

static void add(const struct jvm_code_range *range)
{
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = take_entry(range->start);
	if (e) {
		atomic_store(&e->end, 0);
		atomic_fetch_add(&e->version, 1);
		e->range = *range;
		atomic_store(&e->end, range->end);
	}
	pthread_mutex_unlock(&lock);
}

static void drop(uintptr_t start)
{
	uint32_t used;

	pthread_mutex_lock(&lock);
	used = atomic_load(&count);
	for (uint32_t i = 0; i < used; i++)
		if (entries[i].range.start == start && atomic_load(&entries[i].end)) {
			atomic_store(&entries[i].end, 0);
			first_free = i < first_free ? i : first_free;
		}
	pthread_mutex_unlock(&lock);
}

bool jvm_code_ranges_find(uintptr_t address, struct jvm_code_range *ret)
{
	uint32_t used = atomic_load(&count);

	for (uint32_t i = 0; i < used; i++) {
		const struct entry *e = &entries[i];
		uintptr_t end = atomic_load(&e->end);
		uint32_t version = atomic_load(&e->version);

		if (address >= end || address < e->range.start)
			continue;
		*ret = e->range;
		if (atomic_load(&e->end) == end && atomic_load(&e->version) == version && address >= ret->start)
			return true;
	}
	return false;
}

/* ---- events ---- */

static void JNICALL method_is_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code, jint map_length,
				       const jvmtiAddrLocationMap *map, const void *info)
{
	(void)jvmti, (void)map_length, (void)map, (void)info;
	add(&(struct jvm_code_range){
		.start = (uintptr_t)code, .end = (uintptr_t)code + (uint32_t)size, .method = method});
}

static void JNICALL method_is_unloaded(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
	(void)jvmti, (void)method;
	drop((uintptr_t)code);
}

static void JNICALL code_is_made(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
	struct jvm_code_range range = {.start = (uintptr_t)code, .end = (uintptr_t)code + (uint32_t)size};
	const char *last = strrchr(name, ':');
	size_t len;

	(void)jvmti;
	name = last ? last + 1 : name;
	len = strnlen(name, sizeof range.name - 3);
	range.name[0] = '[';
	memcpy(range.name + 1, name, len);
	range.name[len + 1] = ']';
	add(&range);
}

void jvm_code_ranges_listen(jvmtiEventCallbacks *callbacks)
{
	callbacks->CompiledMethodLoad = method_is_compiled;
	callbacks->CompiledMethodUnload = method_is_unloaded;
	callbacks->DynamicCodeGenerated = code_is_made;
}

bool jvm_code_ranges_learn(jvmtiEnv *jvmti)
{
	return (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) == JVMTI_ERROR_NONE &&
	       (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD) == JVMTI_ERROR_NONE;
}
