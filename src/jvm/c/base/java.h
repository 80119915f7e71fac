/*
 * java.h - classes, methods and fields of Java by their names, and the exceptions of Java code that the agent calls.
 *
 * Nothing here leaves an exception. Any thread that is attached.
 */
#ifndef WM_JVM_JAVA_H
#define WM_JVM_JAVA_H

#include <jni.h>
#include <stdbool.h>

/*
 * Drops what Java code has thrown. False: there was nothing. To be called behind each call of Java: JNI allows nothing else before, and
 * -Xcheck:jni says so.
 */
bool jvm_drop_thrown(JNIEnv *env);

/* A global reference, for good. name: with slashes. NULL: there is no such class. */
jclass jvm_find_class(JNIEnv *env, const char *name);
/* A static method. class: NULL for none. NULL: there is no such method. */
jmethodID jvm_find_static(JNIEnv *env, jclass class, const char *name, const char *descriptor);
/* A method of objects; NULL: there is no such class or method. */
jmethodID jvm_find_method(JNIEnv *env, const char *class_name, const char *name, const char *descriptor);
/* A field of objects; NULL: there is no such class or field. */
jfieldID jvm_find_field(JNIEnv *env, const char *class_name, const char *name, const char *descriptor);
/* False: the class is not there, or has not all of the methods. */
bool jvm_register_natives(JNIEnv *env, const char *class_name, const JNINativeMethod *methods, jint count);

#endif
