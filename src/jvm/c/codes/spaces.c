/* spaces.c - one table of names. Constructors have the first spaces, methods the last ones. */
#include "jvm/c/codes/spaces.h"

#include <pthread.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "jvm/c/codes/methods.h"

enum {
	LAST = JVM_FUNCTION_SPACES,
};

/* All of it under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hashmap names;
/* By the number of the name. */
static uint32_t *spaces;
static size_t room;
/* Spaces in use of LAST, and how many were shared. */
static uint32_t constructors, methods, more_constructors, more_methods;

static uint32_t new_constructor(void)
{
	return constructors + methods < LAST ? ++constructors : 1 + more_constructors++ % constructors;
}

static uint32_t new_method(void)
{
	return constructors + methods < LAST ? LAST - methods++ : LAST - more_methods++ % methods;
}

static bool grow(void)
{
	uint32_t *grown = vec_grow(spaces, &room, room + 1, sizeof *spaces);

	if (grown)
		spaces = grown;
	return grown;
}

static uint32_t add(const char *name, uint32_t variant)
{
	const struct key key = key_of_text_safe(name, variant);
	uint32_t count = names.count, number;

	if ((count == room && !grow()) || hashmap_add(&names, &key, &number))
		return 0;
	if (number == count) {
		spaces[number] = strstr(name, "<init>") ? new_constructor() : new_method();
		jvm_space_add_name(spaces[number], name);
	}
	return spaces[number];
}

static uint32_t space(const char *name, uint32_t variant)
{
	uint32_t ret;

	pthread_mutex_lock(&lock);
	ret = add(name, variant);
	pthread_mutex_unlock(&lock);
	return ret;
}

uint32_t jvm_space(const char *name)
{
	return space(name, 0);
}

uint32_t jvm_space_if_known(const char *name)
{
	const struct key key = key_of_text_safe(name, 0);
	uint32_t ret = 0, number;

	pthread_mutex_lock(&lock);
	if (hashmap_find(&names, &key, &number))
		ret = spaces[number];
	pthread_mutex_unlock(&lock);
	return ret;
}

uint32_t jvm_space_with_room(const char *name)
{
	uint32_t ret = space(name, 0);

	for (uint32_t variant = 1; ret && variant <= LAST && !jvm_space_has_room(ret); variant++)
		ret = space(name, variant);
	return ret;
}
