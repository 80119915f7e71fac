/*
 * rewrite.c - two steps: the rewriter, in Java, makes a template of the class; then its calls get their codes. A method that has no room for
 * them is left out of the next try.
 */
#include "jvm/c/rewrite.h"

#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/define.h"
#include "jvm/c/natives.h"
#include "jvm/c/template.h"
#include "recorder/text.h"

enum {
	METHOD_BYTES = 8192, /* of a name and a descriptor that can be left out */
};

/* Written before the first class comes. */
static jclass rewriter, string_class;
static jmethodID make_template;

bool jvm_rewrite_begin(JNIEnv *env, jclass class)
{
	jclass string = (*env)->FindClass(env, "java/lang/String");

	rewriter = class;
	make_template = (*env)->GetStaticMethodID(env, rewriter, "rewrite",
						  "(Ljava/lang/ClassLoader;Ljava/lang/String;[B[Ljava/lang/String;)[B");
	string_class = make_template && string ? (*env)->NewGlobalRef(env, string) : NULL;
	return string_class;
}

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

/* The class of a template. NULL: it has no room for the method *full, or there is no memory. */
static uint8_t *define(JNIEnv *env, const struct jvm_template *t, size_t *len, uint32_t *full)
{
	uint8_t *ret = malloc(t->header->class_bytes + 1);

	*len = t->header->class_bytes;
	if (!ret)
		return NULL;
	memcpy(ret, t->class_file, *len);
	if (jvm_define(env, t, ret, full))
		return ret;
	free(ret);
	return NULL;
}

static void say_failed(const char *name, const char *why)
{
	char line[METHOD_BYTES];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, name ? name : "a class");
	wmrt_text_add(&text, ": not instrumented: ");
	wmrt_text_add(&text, why);
	jvm_say(line);
}

/* What the rewriter returned. *full: methods without room; it gets longer if the next try is to leave out one more. */
static uint8_t *define_result(JNIEnv *env, jbyteArray result, const char *name, jobjectArray *full, size_t *new_len)
{
	struct jvm_template t;
	uint8_t *ret = NULL;
	uint32_t method = 0;
	size_t len;
	void *bytes = copy_of(env, result, &len);

	if (!bytes || !jvm_template_locate(&bytes, &len) || !jvm_template_open(bytes, len, &t)) {
		say_failed(name, "what it would be is not as it should, or there is no memory");
	} else {
		ret = define(env, &t, new_len, &method);
		*full = ret ? *full : with_one_more(env, *full, &t.methods[method], &t);
	}
	free(bytes);
	return ret;
}

static uint8_t *rewrite(JNIEnv *env, jobject loader, const char *name, jstring java_name, jbyteArray bytes,
			size_t *new_len)
{
	jobjectArray full = (*env)->NewObjectArray(env, 0, string_class, NULL);
	uint8_t *ret = NULL;

	while (full && !ret) {
		jobjectArray before = full;
		jbyteArray result =
			(*env)->CallStaticObjectMethod(env, rewriter, make_template, loader, java_name, bytes, full);

		if (!result)
			break;
		ret = define_result(env, result, name, &full, new_len);
		if (!ret && full == before)
			break;
	}
	return ret;
}

uint8_t *jvm_rewrite(JNIEnv *env, jobject loader, const char *name, const uint8_t *bytes, size_t len, size_t *new_len)
{
	jbyteArray array = bytes_of(env, bytes, len);
	jstring java_name = name ? (*env)->NewStringUTF(env, name) : NULL;
	uint8_t *ret = NULL;

	if (array && (!name || java_name))
		ret = rewrite(env, loader, name, java_name, array, new_len);
	if (!(*env)->ExceptionCheck(env))
		return ret;
	(*env)->ExceptionClear(env);
	say_failed(name, "the rewriter failed");
	free(ret);
	return NULL;
}
