/* super_calls.c - constructors in a table by name, the calls of each in a list. */
#include "jvm/c/codes/super_calls.h"

#include <jni.h>
#include <pthread.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "core/contexts/sitecode.h"
#include "jvm/c/codes/methods.h"

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
static size_t constructor_room, use_room;
static uint32_t use_count;
/* By site: the number of what it calls plus 1; 0: it is no such call. */
static uint32_t *by_site;
static size_t site_room;
/* By space: how many constructors have calls there that nobody undoes. */
static uint32_t undone_by_none[SITECODE_SPACES];
/* Arrays of SuperCalls, by space: is the count not 0? special: true for the space 0, too. */
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

/* The array with room for the item `number`; new items are 0. NULL: there is no memory, and the array is as it was. */
static void *with_room(void *items, size_t size, size_t number, size_t *room)
{
	size_t before = *room;
	char *ret = number < before ? items : vec_grow(items, room, number + 1, size);

	if (ret)
		memset(ret + before * size, 0, (*room - before) * size);
	return ret;
}

static struct constructor *constructor(const char *name, uint32_t *number)
{
	const struct key key = key_of_text_safe(name, 0);
	struct constructor *grown = with_room(constructors, sizeof *constructors, names.count, &constructor_room);

	if (!grown)
		return NULL;
	constructors = grown;
	return hashmap_add(&names, &key, number) ? NULL : &constructors[*number];
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
	struct use *grown;

	for (uint32_t i = called->uses; i; i = uses[i - 1].next)
		if (uses[i - 1].space == space)
			return true;
	grown = with_room(uses, sizeof *uses, use_count, &use_room);
	if (!grown)
		return false;
	uses = grown;
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
	uint32_t *grown;
	bool ret;

	pthread_mutex_lock(&lock);
	called = constructor(name, &number);
	grown = called ? with_room(by_site, sizeof *by_site, (size_t)site, &site_room) : NULL;
	if (grown)
		by_site = grown;
	ret = grown && add_use(env, called, space);
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
	uint32_t number = site >= 0 && (size_t)site < site_room ? by_site[site] : 0;

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
