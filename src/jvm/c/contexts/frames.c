/* frames.c - asks JVMTI, which knows the code that a frame runs, also when its method has other code by now. */
#include "jvm/c/contexts/frames.h"

#include <jvmti.h>
#include <stdlib.h>

#include "jvm/c/base/java.h"
#include "recorder/text.h"

enum {
	NAME_BYTES = 4096,
	LOCAL_REFERENCES = 4,
};

_Static_assert(sizeof(struct jvm_frame) == sizeof(jvmtiFrameInfo), "is read by JVMTI");

/* Written once, before all else. */
static jvmtiEnv *tools;

/* The class of frames, and its constructor. The class is found at each walk: most runs make none, and need not load it. */
struct maker {
	JNIEnv *env;
	jclass class;
	jmethodID create;
};

/*
 * As the virtual machine tells lines in stack traces: the first entry at the location, or else the last one of those that are nearest before
 * it. Entries are in any order, and several may be at one place.
 */
static jint line_at(const jvmtiLineNumberEntry *entries, jint count, jlocation location)
{
	jlocation nearest = 0;
	jint ret = 0;

	for (jint i = 0; i < count; i++) {
		if (entries[i].start_location == location)
			return entries[i].line_number;
		if (entries[i].start_location > location || entries[i].start_location < nearest)
			continue;
		nearest = entries[i].start_location;
		ret = entries[i].line_number;
	}
	return ret;
}

/* The line of a frame, whose code may be that of a method before it was replaced. 0: not known. */
static jint frame_line(const struct jvm_frame *frame)
{
	jvmtiLineNumberEntry *entries = NULL;
	jint count = 0, ret;

	if ((*tools)->GetLineNumberTable(tools, frame->method, &count, &entries) != JVMTI_ERROR_NONE)
		return 0;
	ret = line_at(entries, count, frame->location);
	(*tools)->Deallocate(tools, (unsigned char *)entries);
	return ret;
}

/* signature: of a class, Lpackage/Name; */
static void add_class(struct wmrt_text *text, const char *signature)
{
	for (const char *s = signature + 1; *s && *s != ';'; s++)
		wmrt_text_char(text, *s == '/' ? '.' : *s);
}

/* class.methodDESCRIPTOR. *owner: its class, a local reference. NULL: the class has been unloaded, or there is no memory. */
static jstring name_method(JNIEnv *env, jmethodID method, jclass *owner)
{
	char *name = NULL, *descriptor = NULL, *signature = NULL, bytes[NAME_BYTES];
	struct wmrt_text text = {bytes, sizeof bytes, 0};
	bool is_known = (*tools)->GetMethodName(tools, method, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
			(*tools)->GetMethodDeclaringClass(tools, method, owner) == JVMTI_ERROR_NONE &&
			(*tools)->GetClassSignature(tools, *owner, &signature, NULL) == JVMTI_ERROR_NONE;

	if (is_known) {
		add_class(&text, signature);
		wmrt_text_char(&text, '.');
		wmrt_text_add(&text, name);
		wmrt_text_add(&text, descriptor);
	}
	(*tools)->Deallocate(tools, (unsigned char *)name);
	(*tools)->Deallocate(tools, (unsigned char *)descriptor);
	(*tools)->Deallocate(tools, (unsigned char *)signature);
	return is_known ? (*env)->NewStringUTF(env, bytes) : NULL;
}

/* Sets the class. False: there is an exception. */
static bool find_class(struct maker *m)
{
	m->class = (*m->env)->FindClass(m->env, "dev/waymark/agent/Frame");
	m->create =
		m->class ? (*m->env)->GetMethodID(m->env, m->class, "<init>", "(Ljava/lang/Class;Ljava/lang/String;I)V")
			 : NULL;
	return m->create;
}

static jobject new_frame(const struct maker *m, const struct jvm_frame *frame)
{
	jclass owner = NULL;
	jstring method = name_method(m->env, frame->method, &owner);

	return method ? (*m->env)->NewObject(m->env, m->class, m->create, owner, method, frame_line(frame)) : NULL;
}

/* False: the array has not got it. */
static bool put_frame(const struct maker *m, const struct jvm_frame *frame, jobjectArray array, jint at)
{
	jobject made;

	if ((*m->env)->PushLocalFrame(m->env, LOCAL_REFERENCES) != 0)
		return false;
	made = new_frame(m, frame);
	if (made)
		(*m->env)->SetObjectArrayElement(m->env, array, at, made);
	(*m->env)->PopLocalFrame(m->env, NULL);
	return made;
}

jobjectArray jvm_frames_new(const struct JNINativeInterface_ **env, const struct jvm_frame *frames, int32_t count)
{
	struct maker m = {.env = env};
	jobjectArray ret = find_class(&m) ? (*env)->NewObjectArray(env, count, m.class, NULL) : NULL;

	for (jint i = 0; ret && i < count; i++)
		if (!put_frame(&m, &frames[i], ret, i))
			return NULL;
	return ret;
}

/* Without memory, an exception. */
static jobjectArray stack(JNIEnv *env, jclass class)
{
	jint depth = 0, count = 0;
	struct jvm_frame *frames = NULL;
	jobjectArray ret = NULL;

	(void)class;
	if ((*tools)->GetFrameCount(tools, NULL, &depth) == JVMTI_ERROR_NONE)
		frames = malloc((size_t)depth * sizeof *frames);
	if (frames &&
	    (*tools)->GetStackTrace(tools, NULL, 0, depth, (jvmtiFrameInfo *)frames, &count) == JVMTI_ERROR_NONE)
		ret = jvm_frames_new(env, frames, count);
	free(frames);
	if (!ret && !(*env)->ExceptionCheck(env))
		(*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/OutOfMemoryError"), "frames of a stack");
	return ret;
}

bool jvm_frames_register(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env)
{
	static const JNINativeMethod natives[] = {
		{(char *)"stack", (char *)"()[Ldev/waymark/agent/Frame;", (void *)stack},
	};

	tools = jvmti;
	return jvm_register_natives(env, "dev/waymark/agent/Frames", natives, sizeof natives / sizeof *natives);
}
