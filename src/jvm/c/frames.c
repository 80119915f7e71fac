/* frames.c - asks JVMTI, which knows the code that a frame runs, also when its method has other code by now. */
#include "jvm/c/frames.h"

#include <jvmti.h>

/* Written once, before line is called. */
static jvmtiEnv *tools;

/* That of the last entry at or before the location; entries are in any order. */
static jint line_at(const jvmtiLineNumberEntry *entries, jint count, jlocation location)
{
	jlocation found = -1;
	jint ret = 0;

	for (jint i = 0; i < count; i++) {
		if (entries[i].start_location > location || entries[i].start_location <= found)
			continue;
		found = entries[i].start_location;
		ret = entries[i].line_number;
	}
	return ret;
}

int32_t jvm_frame_line(const struct jvmtiInterface_1_ **jvmti, struct _jmethodID *method, int64_t location)
{
	jvmtiLineNumberEntry *entries = NULL;
	jint count = 0, ret;

	if ((*jvmti)->GetLineNumberTable(jvmti, method, &count, &entries) != JVMTI_ERROR_NONE)
		return 0;
	ret = line_at(entries, count, location);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)entries);
	return ret;
}

static jint line(JNIEnv *env, jclass class, jint place)
{
	jmethodID method;
	jlocation location;
	jint depth = 0;

	(void)env, (void)class;
	if ((*tools)->GetFrameCount(tools, NULL, &depth) != JVMTI_ERROR_NONE ||
	    (*tools)->GetFrameLocation(tools, NULL, depth - place, &method, &location) != JVMTI_ERROR_NONE)
		return 0;
	return jvm_frame_line(tools, method, location);
}

bool jvm_frames_register(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env)
{
	static const JNINativeMethod native = {(char *)"line", (char *)"(I)I", (void *)line};
	jclass class = (*env)->FindClass(env, "dev/waymark/agent/Frames");

	tools = jvmti;
	if (class && (*env)->RegisterNatives(env, class, &native, 1) == JNI_OK)
		return true;
	(*env)->ExceptionClear(env);
	return false;
}
