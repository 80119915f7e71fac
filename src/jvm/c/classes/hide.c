/* hide.c - enters names in the filters of jdk.internal.reflect.Reflection, which Class asks. */
#include "jvm/c/classes/hide.h"

#include <jni.h>

#include "jvm/c/base/java.h"

/* The name of an item; NULL behind the last one. */
typedef const char *name_function(const struct class_file_addition *added, size_t i);

static const char *field_name(const struct class_file_addition *added, size_t i)
{
	return i < added->field_count ? added->fields[i].name : NULL;
}

static const char *method_name(const struct class_file_addition *added, size_t i)
{
	return i < added->forward_count ? added->forwards[i].name : NULL;
}

/* Set.of(names); NULL: there is no memory, and an exception. */
static jobject new_set(JNIEnv *env, const struct class_file_addition *added, name_function *name)
{
	jclass set = (*env)->FindClass(env, "java/util/Set");
	jclass string = set ? (*env)->FindClass(env, "java/lang/String") : NULL;
	jmethodID of =
		string ? (*env)->GetStaticMethodID(env, set, "of", "([Ljava/lang/Object;)Ljava/util/Set;") : NULL;
	jobjectArray names;
	jint count = 0;

	while (name(added, (size_t)count))
		count++;
	names = of ? (*env)->NewObjectArray(env, count, string, NULL) : NULL;
	for (jint i = 0; names && i < count; i++) {
		jstring text = (*env)->NewStringUTF(env, name(added, (size_t)i));

		if (!text)
			return NULL;
		(*env)->SetObjectArrayElement(env, names, i, text);
		(*env)->DeleteLocalRef(env, text);
	}
	return names ? (*env)->CallStaticObjectMethod(env, set, of, names) : NULL;
}

static void hide(JNIEnv *env, jclass class, const char *how, jobject names)
{
	jclass filters = names ? (*env)->FindClass(env, "jdk/internal/reflect/Reflection") : NULL;
	jmethodID hide =
		filters ? (*env)->GetStaticMethodID(env, filters, how, "(Ljava/lang/Class;Ljava/util/Set;)V") : NULL;

	if (hide)
		(*env)->CallStaticVoidMethod(env, filters, hide, class, names);
}

static bool hide_all(JNIEnv *env, jclass class, const char *how, const struct class_file_addition *added,
		     name_function *name)
{
	jobject names = new_set(env, added, name);

	if (jvm_drop_thrown(env))
		return false;
	hide(env, class, how, names);
	return !jvm_drop_thrown(env);
}

bool jvm_hide(const struct JNINativeInterface_ **env, const char *class_name, const struct class_file_addition *added)
{
	jclass class = (*env)->FindClass(env, class_name);

	return !jvm_drop_thrown(env) && hide_all(env, class, "registerFieldsToFilter", added, field_name) &&
	       hide_all(env, class, "registerMethodsToFilter", added, method_name);
}
