/*
 * rewrite.c - two steps: the rewriter, in Java, makes a template of the class; then its calls get their codes. A method that has no room for
 * them is left out of the next try. The first step is left out where the cache has the template.
 */
#include "jvm/c/classes/rewrite.h"

#include <jni.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/classes/cache.h"
#include "jvm/c/classes/class_check.h"
#include "jvm/c/classes/define.h"
#include "jvm/c/base/options.h"
#include "jvm/c/base/log.h"
#include "jvm/c/classes/template.h"
#include "jvm/c/base/java.h"
#include "recorder/text.h"

enum {
	METHOD_BYTES = 8192, /* of a name and a descriptor that can be left out */
};

/* Written before the first class comes. */
static jclass rewriter, string_class;
static jmethodID make_template, begins_from_cache;
/* Whose classes may be in the cache; NULL: nobody's. */
static jobject plain_loader;
/* NULL: nothing is compared. */
static jclass oracle;
static jmethodID add_method;

/* Other agents are there; a class was taken from it. */
static atomic_bool is_cache_off, is_cache_used;

/* ---- begin ---- */

static bool find_oracle(JNIEnv *env)
{
	oracle = jvm_find_class(env, "dev/waymark/agent/Oracle");
	add_method = jvm_find_static(env, oracle, "add", "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Z)V");
	return add_method;
}

static bool find_plain_loader(JNIEnv *env)
{
	jmethodID find = jvm_find_static(env, rewriter, "plainLoader", "()Ljava/lang/ClassLoader;");
	jobject loader = find ? (*env)->CallStaticObjectMethod(env, rewriter, find) : NULL;

	if (jvm_drop_thrown(env))
		return false;
	begins_from_cache = jvm_find_static(env, rewriter, "beginsFromCache", "(Ljava/lang/ClassLoader;)V");
	plain_loader = loader ? (*env)->NewGlobalRef(env, loader) : NULL;
	return begins_from_cache;
}

bool jvm_rewrite_begin(JNIEnv *env, jclass class, const struct jvm_options *options)
{
	rewriter = class;
	make_template = jvm_find_static(env, rewriter, "rewrite",
					"(Ljava/lang/ClassLoader;Ljava/lang/String;[B[Ljava/lang/String;)[B");
	string_class = jvm_find_class(env, "java/lang/String");
	return make_template && string_class && (!options->is_checked || find_oracle(env)) &&
	       (!*options->cache || *options->jdk || find_plain_loader(env));
}

void jvm_rewrite_leave_cache(void)
{
	atomic_store(&is_cache_off, true);
}

/* ---- both steps ---- */

static jbyteArray bytes_of(JNIEnv *env, const uint8_t *bytes, size_t len)
{
	jbyteArray ret = (*env)->NewByteArray(env, (jint)len);

	if (ret)
		(*env)->SetByteArrayRegion(env, ret, 0, (jint)len, (const jbyte *)bytes);
	return ret;
}

/* A copy of what is in the array, to be freed. NULL: there is no memory. */
static void *copy_of(JNIEnv *env, jbyteArray array, size_t *len)
{
	void *ret;

	*len = (size_t)(*env)->GetArrayLength(env, array);
	ret = malloc(*len + 1);
	if (ret)
		(*env)->GetByteArrayRegion(env, array, 0, (jint)*len, ret);
	return ret;
}

/* The methods `full`, and one more. NULL: there is no memory. */
static jobjectArray with_one_more(JNIEnv *env, jobjectArray full, const struct jvm_template_method *method,
				  const struct jvm_template *t)
{
	jint count = (*env)->GetArrayLength(env, full);
	jobjectArray ret = (*env)->NewObjectArray(env, count + 1, string_class, NULL);
	char name[METHOD_BYTES];
	jstring added;

	for (jint i = 0; ret && i < count; i++)
		(*env)->SetObjectArrayElement(env, ret, i, (*env)->GetObjectArrayElement(env, full, i));
	if (!ret || strlen(jvm_template_text(t, method->name)) + strlen(jvm_template_text(t, method->descriptor)) >=
			    sizeof name)
		return NULL;
	strcpy(name, jvm_template_text(t, method->name));
	strcat(name, jvm_template_text(t, method->descriptor));
	added = (*env)->NewStringUTF(env, name);
	if (!added)
		return NULL;
	(*env)->SetObjectArrayElement(env, ret, count, added);
	return ret;
}

static void add_to_oracle(JNIEnv *env, const struct jvm_template *t)
{
	jstring owner = (*env)->NewStringUTF(env, jvm_template_text(t, t->header->name));

	for (uint32_t i = 0; owner && i < t->header->methods; i++) {
		const struct jvm_template_method *m = &t->methods[i];
		jstring name = (*env)->NewStringUTF(env, jvm_template_text(t, m->name));
		jstring descriptor = name ? (*env)->NewStringUTF(env, jvm_template_text(t, m->descriptor)) : NULL;

		if (!descriptor)
			return;
		(*env)->CallStaticVoidMethod(env, oracle, add_method, owner, name, descriptor,
					     (jboolean)(m->flags & JVM_METHOD_IS_SYNCHRONIZED ? 1 : 0));
		jvm_drop_thrown(env);
		(*env)->DeleteLocalRef(env, name);
		(*env)->DeleteLocalRef(env, descriptor);
	}
}

/* The class of a template. NULL: it has no room for the method *full, or there is no memory. */
static uint8_t *define(JNIEnv *env, const struct jvm_template *t, size_t *len, uint32_t *full)
{
	uint8_t *ret = malloc(t->header->class_bytes + 1);

	*len = t->header->class_bytes;
	if (!ret)
		return NULL;
	memcpy(ret, t->class_file, *len);
	if (jvm_define(env, t, ret, full)) {
		if (oracle)
			add_to_oracle(env, t);
		return ret;
	}
	free(ret);
	return NULL;
}

static void say_failed(const char *name, const char *why)
{
	jvm_log_of(name ? name : "a class", why);
}

/* Makes a template of what the rewriter returned; NULL: it is none. */
static void *located(JNIEnv *env, jbyteArray result, const char *name, struct jvm_template *t, size_t *len)
{
	void *bytes = copy_of(env, result, len);

	if (bytes && jvm_template_locate(&bytes, len) && jvm_template_open(bytes, *len, t))
		return bytes;
	say_failed(name, "not instrumented: what it would be is not as it should, or there is no memory");
	free(bytes);
	return NULL;
}

/* A class that is to be rewritten. */
struct class
{
	jobject loader;
	const char *name;
	const uint8_t *bytes;
	size_t len;
};

static bool may_be_cached(JNIEnv *env, const struct class *class)
{
	return plain_loader && class->name && !atomic_load(&is_cache_off) &&
	       (*env)->IsSameObject(env, class->loader, plain_loader);
}

/* By what the rewriter returned. NULL: it has failed, or *full got longer by a method that the next try is to leave out. */
static uint8_t *define_result(JNIEnv *env, const struct class *class, jbyteArray result, jobjectArray *full,
			      size_t *new_len)
{
	bool is_whole = (*env)->GetArrayLength(env, *full) == 0;
	struct jvm_template t;
	uint32_t method = 0;
	size_t len;
	void *template = located(env, result, class->name, &t, &len);
	uint8_t *ret = template ? define(env, &t, new_len, &method) : NULL;

	if (template && !ret)
		*full = with_one_more(env, *full, &t.methods[method], &t);
	is_whole &= ret && !(t.header->flags & JVM_TEMPLATE_IS_PARTIAL);
	if (is_whole && may_be_cached(env, class))
		jvm_cache_add(class->name, class->bytes, class->len, template, len);
	else
		free(template);
	return ret;
}

static uint8_t *rewrite(JNIEnv *env, const struct class *class, jstring name, jbyteArray bytes, size_t *new_len)
{
	jobjectArray full = (*env)->NewObjectArray(env, 0, string_class, NULL);
	uint8_t *ret = NULL;

	while (full && !ret) {
		jobjectArray before = full;
		jbyteArray result =
			(*env)->CallStaticObjectMethod(env, rewriter, make_template, class->loader, name, bytes, full);

		if ((*env)->ExceptionCheck(env) || !result)
			break;
		if ((*env)->GetArrayLength(env, result) == 0) {
			if (may_be_cached(env, class))
				jvm_cache_add(class->name, class->bytes, class->len, NULL, 0);
			break;
		}
		ret = define_result(env, class, result, &full, new_len);
		if (!ret && full == before)
			break;
	}
	return ret;
}

static uint8_t *rewrite_by_java(JNIEnv *env, const struct class *class, size_t *new_len)
{
	jbyteArray bytes = bytes_of(env, class->bytes, class->len);
	jstring name = class->name ? (*env)->NewStringUTF(env, class->name) : NULL;
	uint8_t *ret = NULL;

	if (bytes && (!class->name || name))
		ret = rewrite(env, class, name, bytes, new_len);
	if (!jvm_drop_thrown(env))
		return ret;
	say_failed(class->name, "not instrumented: the rewriter failed");
	free(ret);
	return NULL;
}

/* False: it is not there, or has no room. *ret: NULL if the class stays as it is. */
static bool rewrite_by_cache(JNIEnv *env, const struct class *class, uint8_t **ret, size_t *new_len)
{
	struct jvm_template t;
	uint32_t method;

	if (!may_be_cached(env, class) || !jvm_cache_find(class->name, class->bytes, class->len, &t))
		return false;
	if (!atomic_exchange(&is_cache_used, true)) {
		(*env)->CallStaticVoidMethod(env, rewriter, begins_from_cache, plain_loader);
		jvm_drop_thrown(env);
	}
	*ret = t.header ? define(env, &t, new_len, &method) : NULL;
	return *ret || !t.header;
}

uint8_t *jvm_rewrite(JNIEnv *env, jobject loader, const char *name, const uint8_t *bytes, size_t len, size_t *new_len)
{
	const struct class class = {loader, name, bytes, len};
	uint8_t *ret = NULL;

	if (rewrite_by_cache(env, &class, &ret, new_len))
		return ret;
	if (jvm_class_is_whole(bytes, len))
		return rewrite_by_java(env, &class, new_len);
	say_failed(name, "not instrumented: the virtual machine is to refuse its class file");
	return NULL;
}
