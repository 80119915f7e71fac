/* walk.c - interns frames from the outermost on: equal stacks, and equal outer parts of them, are the same prefixes. */
#include "jvm/c/walk/walk.h"

#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/walk/method_names.h"
#include "recorder/prefix_table.h"
#include "recorder/text.h"
#include "waymark/abi.h"

enum {
	FRAMES_HERE = 128, /* on the stack of the thread, which may be short of it */
};

_Static_assert(sizeof(struct jvm_walk_frame) == sizeof(jvmtiFrameInfo), "is written by JVMTI");

/* Written once, before the others. */
static jvmtiEnv *tools;
/* Of the program's first thread; written by jvm_walk_begin in it, or at its first walk. */
static _Thread_local bool is_main __attribute__((tls_model("initial-exec")));

bool jvm_walk_init(const struct jvmtiInterface_1_ **jvmti)
{
	tools = jvmti;
	return jvm_method_names_init(jvmti);
}

bool jvm_walk_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
		    struct _jobject *main)
{
	jthread own = NULL;

	if ((*jvmti)->GetCurrentThread(jvmti, &own) != JVMTI_ERROR_NONE)
		return false;
	is_main = main && (*env)->IsSameObject(env, own, main);
	(*env)->DeleteLocalRef(env, own);
	return jvm_method_names_begin(env);
}

uint32_t jvm_walk_root(void)
{
	return is_main ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
}

static wm_context lost(void)
{
	return (wm_context){.epoch = WM_EPOCH_WALKED, .prefix = WM_PREFIX_LOST};
}

/* Frames that Java's own stack traces leave out. */
static bool is_hidden(const struct jvm_walk_frame *frame)
{
	uint32_t method = jvm_method_names_note(frame->method);

	return method && jvm_method_names_is_hidden(method);
}

static uint32_t site_of(const struct jvm_walk_frame *frame, enum wmk_site_kind kind)
{
	uint32_t method = jvm_method_names_note(frame->method);

	return method ? jvm_method_names_site(method, frame->location, kind) : 0;
}

wm_context jvm_walk_context(uint32_t root, const struct jvm_walk_frame *frames, size_t count, const char *leaf)
{
	wm_context ret = {.epoch = WM_EPOCH_WALKED, .prefix = root};
	size_t first = 0;

	while (first < count && is_hidden(&frames[first]))
		first++;
	for (size_t i = count; i-- > (leaf ? first : first + 1);) {
		uint32_t site;

		if (is_hidden(&frames[i]))
			continue;
		site = site_of(&frames[i], WMK_SITE_CALL);
		if (!site)
			return lost();
		ret.prefix = wmrt_intern(ret.prefix, WM_EPOCH_WALKED, 0, site, 1);
		if (ret.prefix == WM_PREFIX_LOST)
			return lost();
	}
	if (first == count && !leaf)
		return ret;
	ret.site = leaf ? jvm_method_names_label(leaf) : site_of(&frames[first], WMK_SITE_CAPTURE);
	return ret.site ? ret : lost();
}

/* Returns how many frames there are in *ret, which is `here` or malloc'd; -1: that is not known. */
static jint take_stack(struct jvm_walk_frame *here, struct jvm_walk_frame **ret)
{
	jint count = 0, depth = 0;

	*ret = here;
	if ((*tools)->GetStackTrace(tools, NULL, 0, FRAMES_HERE, (jvmtiFrameInfo *)here, &count) != JVMTI_ERROR_NONE)
		return -1;
	if (count < FRAMES_HERE)
		return count;
	if ((*tools)->GetFrameCount(tools, NULL, &depth) != JVMTI_ERROR_NONE)
		return -1;
	*ret = malloc((size_t)depth * sizeof **ret);
	if (*ret && (*tools)->GetStackTrace(tools, NULL, 0, depth, (jvmtiFrameInfo *)*ret, &count) == JVMTI_ERROR_NONE)
		return count;
	return -1;
}

/* Lpackage/Name; is [package.Name], [I is [int[]]. */
static void describe_class(jclass class, char label[JVM_LABEL_BYTES])
{
	static const char letters[] = "ZBCSIJFD";
	static const char *const primitives[] = {"boolean", "byte", "char", "short", "int", "long", "float", "double"};
	struct wmrt_text text = {label, JVM_LABEL_BYTES, 0};
	char *signature = NULL;
	const char *name, *letter;

	label[0] = '\0';
	if ((*tools)->GetClassSignature(tools, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	name = signature + strspn(signature, "[");
	letter = strchr(letters, *name);
	wmrt_text_char(&text, '[');
	if (*name == 'L')
		for (name++; *name && *name != ';'; name++)
			wmrt_text_char(&text, *name == '/' ? '.' : *name);
	else if (*name && letter)
		wmrt_text_add(&text, primitives[letter - letters]);
	for (const char *s = signature; *s == '['; s++)
		wmrt_text_add(&text, "[]");
	wmrt_text_char(&text, ']');
	(*tools)->Deallocate(tools, (unsigned char *)signature);
}

wm_context jvm_walk_here(const struct JNINativeInterface_ **env, size_t skipped, struct _jobject *class)
{
	struct jvm_walk_frame here[FRAMES_HERE], *frames;
	char label[JVM_LABEL_BYTES] = "";
	jint count = take_stack(here, &frames);
	wm_context ret;

	for (jint i = 0; i < count; i++)
		jvm_method_names_ask(env, frames[i].method);
	if (class)
		describe_class(class, label);
	ret = count < 0 || (size_t)count < skipped ? lost()
						   : jvm_walk_context(jvm_walk_root(), frames + skipped,
								      (size_t)count - skipped, *label ? label : NULL);
	if (frames != here)
		free(frames);
	return ret;
}
