/* frames.c - asks JVMTI, which knows the code that a frame runs, also when its method has other code by now. */
#include "jvm/c/contexts/frames.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "jvm/c/base/java.h"
#include "recorder/text.h"

enum {
	NAME_BYTES = 4096,
	LOCAL_REFERENCES = 4,
	SEEN_BITS = 6,
	SEEN = 1 << SEEN_BITS,
	KEPT_BITS = 12,
	KEPT = 1 << KEPT_BITS,
};

_Static_assert(sizeof(struct jvm_frame) == sizeof(jvmtiFrameInfo), "is read by JVMTI");

/* Written once, before all else. */
static jvmtiEnv *tools;

/* A frame that was made for a place. */
struct kept {
	struct jvm_frame place;
	jint line; /* when it was made: the place may be one of other code since */
	jweak made;
};

/*
 * Frames of earlier walks, for the one who has set the flag; a walk that finds it set makes its own: who has set it may be suspended. A
 * jmethodID is never given twice, so what a frame says of its method stays true.
 */
static struct kept kept[KEPT];
static atomic_flag is_kept_used = ATOMIC_FLAG_INIT;

/*
 * Makes the frames of a walk. The class of frames is found at each walk: most runs make none, and need not load it. A deep stack has few
 * places, many times: frames at one place are one object, which is made when it is met, or is of an earlier walk.
 */
struct maker {
	JNIEnv *env;
	jclass class;
	jmethodID create;
	bool has_kept;
	struct {
		struct jvm_frame place;
		jobject made; /* a local reference, or NULL */
	} seen[SEEN];
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

static size_t slot_of(const struct jvm_frame *frame, int bits)
{
	uint64_t key = (uint64_t)(uintptr_t)frame->method + (uint64_t)frame->location;

	return (size_t)(key * 0x9e3779b97f4a7c15 >> (64 - bits));
}

static bool is_same_place(const struct jvm_frame *one, const struct jvm_frame *other)
{
	return one->method == other->method && one->location == other->location;
}

static jobject new_frame(const struct maker *m, const struct jvm_frame *frame, jint line)
{
	jclass owner = NULL;
	jstring method = name_method(m->env, frame->method, &owner);

	return method ? (*m->env)->NewObject(m->env, m->class, m->create, owner, method, line) : NULL;
}

/* A local reference to a new frame, and no other. NULL: there may be an exception. */
static jobject make_frame(const struct maker *m, const struct jvm_frame *frame, jint line)
{
	if ((*m->env)->PushLocalFrame(m->env, LOCAL_REFERENCES) != 0)
		return NULL;
	return (*m->env)->PopLocalFrame(m->env, new_frame(m, frame, line));
}

/* The same, of an earlier walk if there is one. */
static jobject keep_frame(const struct maker *m, const struct jvm_frame *frame)
{
	struct kept *k = &kept[slot_of(frame, KEPT_BITS)];
	jint line = frame_line(frame);
	bool is_known = k->made && k->line == line && is_same_place(&k->place, frame);
	jobject ret = is_known ? (*m->env)->NewLocalRef(m->env, k->made) : NULL;

	if (ret)
		return ret;
	ret = make_frame(m, frame, line);
	if (!ret)
		return NULL;
	(*m->env)->DeleteWeakGlobalRef(m->env, k->made);
	*k = (struct kept){*frame, line, (*m->env)->NewWeakGlobalRef(m->env, ret)};
	jvm_drop_thrown(m->env);
	return ret;
}

/* The frame at this place. The reference is the maker's. */
static jobject find_frame(struct maker *m, const struct jvm_frame *frame)
{
	size_t slot = slot_of(frame, SEEN_BITS);

	if (m->seen[slot].made && is_same_place(&m->seen[slot].place, frame))
		return m->seen[slot].made;
	(*m->env)->DeleteLocalRef(m->env, m->seen[slot].made);
	m->seen[slot].place = *frame;
	m->seen[slot].made = m->has_kept ? keep_frame(m, frame) : make_frame(m, frame, frame_line(frame));
	return m->seen[slot].made;
}

/* NULL: there may be an exception. */
static jobjectArray make_frames(struct maker *m, const struct jvm_frame *frames, jint count)
{
	jobjectArray ret = find_class(m) ? (*m->env)->NewObjectArray(m->env, count, m->class, NULL) : NULL;

	for (jint i = 0; ret && i < count; i++) {
		jobject frame = find_frame(m, &frames[i]);

		if (!frame)
			return NULL;
		(*m->env)->SetObjectArrayElement(m->env, ret, i, frame);
	}
	return ret;
}

jobjectArray jvm_frames_new(const struct JNINativeInterface_ **env, const struct jvm_frame *frames, int32_t count)
{
	struct maker m = {.env = env};
	jobjectArray ret;

	if ((*env)->PushLocalFrame(env, SEEN + LOCAL_REFERENCES) != 0)
		return NULL;
	m.has_kept = !atomic_flag_test_and_set(&is_kept_used);
	ret = make_frames(&m, frames, count);
	if (m.has_kept)
		atomic_flag_clear(&is_kept_used);
	return (*env)->PopLocalFrame(env, ret);
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
