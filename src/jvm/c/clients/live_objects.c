/*
 * live_objects.c - an array of weak references. Those of objects that are gone are dropped when there are twice as many as the last time: each
 * is looked at twice on average.
 */
#include "jvm/c/clients/live_objects.h"

#include <pthread.h>

#include "jvm/c/base/log.h"
#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	MAX_OBJECTS = 1 << 20,
	FIRST_LOOK = 4096,
};

struct live_object {
	jweak reference;
	wm_context context;
	uint64_t bytes;
	uint32_t tid;
};

/* Written once, before the others. */
static jvmtiEnv *tools;
static struct live_object *objects;
/* Below: under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t count, next_look = FIRST_LOOK;
static uint64_t dropped;
static JavaVM *machine; /* where there is an object */

bool jvm_live_objects_init(jvmtiEnv *jvmti)
{
	tools = jvmti;
	if (!objects)
		objects = wmrt_map_memory(MAX_OBJECTS * sizeof *objects);
	return objects;
}

static bool is_gone(JNIEnv *env, const struct live_object *o)
{
	return (*env)->IsSameObject(env, o->reference, NULL);
}

static void drop_gone(JNIEnv *env)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_gone(env, &objects[i]))
			(*env)->DeleteWeakGlobalRef(env, objects[i].reference);
		else
			objects[kept++] = objects[i];
	count = kept;
	next_look = kept * 2 > FIRST_LOOK ? kept * 2 : FIRST_LOOK;
	if (next_look > MAX_OBJECTS)
		next_look = MAX_OBJECTS;
}

void jvm_live_objects_add(JNIEnv *env, jobject object, wm_context context, uint64_t bytes)
{
	struct live_object new = {.context = context, .bytes = bytes, .tid = wmrt_gettid()};

	new.reference = (*env)->NewWeakGlobalRef(env, object);
	pthread_mutex_lock(&lock);
	if (count == next_look)
		drop_gone(env);
	if (new.reference && count < MAX_OBJECTS && (*env)->GetJavaVM(env, &machine) == JNI_OK)
		objects[count++] = new;
	else
		dropped++;
	pthread_mutex_unlock(&lock);
}

static void say_dropped(void)
{
	char line[128];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "live: ");
	wmrt_text_number(&text, dropped, 10, 1);
	wmrt_text_add(&text, " sampled objects were not looked at: there are too many");
	jvm_log(line);
}

void jvm_live_objects_record(void)
{
	JNIEnv *env = NULL;

	(*tools)->ForceGarbageCollection(tools);
	pthread_mutex_lock(&lock);
	if (count && (*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_1_6) == JNI_OK)
		for (uint32_t i = 0; i < count; i++) {
			if (!is_gone(env, &objects[i]))
				wmrt_event_of(objects[i].tid, objects[i].context, "retained", objects[i].bytes);
			(*env)->DeleteWeakGlobalRef(env, objects[i].reference);
		}
	if (dropped)
		say_dropped();
	count = 0;
	dropped = 0;
	next_look = FIRST_LOOK;
	pthread_mutex_unlock(&lock);
}
