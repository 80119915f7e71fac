/* super_calls.c - constructors in a table by name, the calls of each in a list. */
#include "jvm/c/super_calls.h"

#include <jni.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hashmap.h"
#include "core/contexts/sitecode.h"
#include "jvm/c/methods.h"

/* A space where calls of a constructor are. */
struct use {
	uint32_t space;
	uint32_t next; /* number plus 1; 0: none */
};

struct constructor {
	uint32_t uses; /* number plus 1 of the first one */
	bool is_undoing;
};

/* All of it under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hashmap names;
static struct constructor *constructors;
static struct use *uses;
static uint32_t constructor_room, use_count, use_room;
/* By site: the number of what it calls plus 1; 0: it is no such call. */
static uint32_t *by_site;
static uint32_t site_room;
/* By space: how many constructors have calls there that nobody undoes. */
static uint32_t undone_by_none[SITECODE_SPACES];
/* Of SuperCalls, by space: is that not 0? special: for the space 0, too. */
static jbooleanArray doubtful, special;

static jbooleanArray find_table(JNIEnv *env, jclass class, const char *name)
{
	jfieldID field = (*env)->GetStaticFieldID(env, class, name, "[Z");

	return field ? (*env)->NewGlobalRef(env, (*env)->GetStaticObjectField(env, class, field)) : NULL;
}

bool jvm_super_calls_begin(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "dev/waymark/agent/SuperCalls");

	doubtful = class ? find_table(env, class, "DOUBTFUL") : NULL;
	special = doubtful ? find_table(env, class, "SPECIAL") : NULL;
	return special;
}

/* An array with room for the item `number`; new items are 0. False: there is no memory. */
static bool make_room(void **items, size_t size, uint32_t number, uint32_t *room)
{
	uint64_t count = *room ? *room : 1024;
	void *grown;

	if (number < *room)
		return true;
	while (number >= count)
		count *= 2;
	grown = count <= UINT32_MAX ? realloc(*items, count * size) : NULL;
	if (!grown)
		return false;
	memset((char *)grown + *room * size, 0, (count - *room) * size);
	*items = grown;
	*room = (uint32_t)count;
	return true;
}

static struct constructor *constructor(const char *name, uint32_t *number)
{
	size_t len = strlen(name);
	const struct key key = {{hash_bytes(HASH_START, name, len), hash_bytes(~HASH_START, name, len), len}};

	if (!make_room((void **)&constructors, sizeof *constructors, names.count, &constructor_room) ||
	    hashmap_add(&names, &key, number))
		return NULL;
	return &constructors[*number];
}

static void count(JNIEnv *env, uint32_t space, bool is_more)
{
	jboolean was_doubtful = undone_by_none[space] > 0, is_doubtful;

	undone_by_none[space] += is_more ? 1 : UINT32_MAX;
	is_doubtful = undone_by_none[space] > 0;
	if (is_doubtful == was_doubtful)
		return;
	(*env)->SetBooleanArrayRegion(env, doubtful, (jint)space, 1, &is_doubtful);
	(*env)->SetBooleanArrayRegion(env, special, (jint)space, 1, &is_doubtful);
}

static bool add_use(JNIEnv *env, struct constructor *called, uint32_t space)
{
	for (uint32_t i = called->uses; i; i = uses[i - 1].next)
		if (uses[i - 1].space == space)
			return true;
	if (!make_room((void **)&uses, sizeof *uses, use_count, &use_room))
		return false;
	uses[use_count] = (struct use){space, called->uses};
	called->uses = ++use_count;
	if (!called->is_undoing)
		count(env, space, true);
	return true;
}

bool jvm_super_calls_add(JNIEnv *env, int32_t site, const char *name)
{
	uint32_t number, length, space = sitecode_space(jvm_site_code(site, &length));
	struct constructor *called;
	bool ret;

	pthread_mutex_lock(&lock);
	called = constructor(name, &number);
	ret = called && make_room((void **)&by_site, sizeof *by_site, (uint32_t)site, &site_room) &&
	      add_use(env, called, space);
	if (ret)
		by_site[site] = number + 1;
	pthread_mutex_unlock(&lock);
	return ret;
}

bool jvm_super_calls_add_undoing(JNIEnv *env, const char *name)
{
	struct constructor *found;
	uint32_t number;

	pthread_mutex_lock(&lock);
	found = constructor(name, &number);
	for (uint32_t i = found && !found->is_undoing ? found->uses : 0; i; i = uses[i - 1].next)
		count(env, uses[i - 1].space, false);
	if (found)
		found->is_undoing = true;
	pthread_mutex_unlock(&lock);
	return found;
}

/* Under the lock; NULL: the site is no such call. */
static const struct constructor *called_by(int32_t site)
{
	uint32_t number = site >= 0 && (uint32_t)site < site_room ? by_site[site] : 0;

	return number ? &constructors[number - 1] : NULL;
}

bool jvm_super_calls_has(int32_t site)
{
	bool ret;

	pthread_mutex_lock(&lock);
	ret = called_by(site);
	pthread_mutex_unlock(&lock);
	return ret;
}

bool jvm_super_calls_is_doubtful(int32_t site)
{
	const struct constructor *called;
	bool ret;

	pthread_mutex_lock(&lock);
	called = called_by(site);
	ret = called && !called->is_undoing;
	pthread_mutex_unlock(&lock);
	return ret;
}
