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
	MORE_FRAMES = 64, /* that another thread may have called meanwhile */
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

static uint32_t push(uint32_t prefix, uint32_t site)
{
	return site && prefix != WM_PREFIX_LOST ? wmrt_intern(prefix, WM_EPOCH_WALKED, 0, site, 1) : WM_PREFIX_LOST;
}

/* From the outermost frame on to frames[first]. */
static uint32_t push_frames(uint32_t prefix, const struct jvm_walk_frame *frames, size_t count, size_t first)
{
	for (size_t i = count; i-- > first;)
		if (!is_hidden(&frames[i]))
			prefix = push(prefix, site_of(&frames[i], WMK_SITE_CALL));
	return prefix;
}

uint32_t jvm_walk_prefix(uint32_t root, const struct jvm_walk_frame *frames, size_t count, const char *leaf)
{
	uint32_t prefix = push_frames(root, frames, count, 0);

	return leaf ? push(prefix, jvm_method_names_label(leaf)) : prefix;
}

wm_context jvm_walk_context(uint32_t root, const struct jvm_walk_frame *frames, size_t count, const char *leaf)
{
	wm_context ret = {.epoch = WM_EPOCH_WALKED};
	size_t first = 0;

	while (first < count && is_hidden(&frames[first]))
		first++;
	ret.prefix = push_frames(root, frames, count, leaf || first == count ? first : first + 1);
	if (ret.prefix == WM_PREFIX_LOST || (first == count && !leaf))
		return ret;
	ret.site = leaf ? jvm_method_names_label(leaf) : site_of(&frames[first], WMK_SITE_CAPTURE);
	return ret.site ? ret : lost();
}

void jvm_walk_take(struct _jobject *thread, struct jvm_walk_stack *ret)
{
	jint count = 0, depth = 0;

	*ret = (struct jvm_walk_stack){.frames = ret->here, .count = -1};
	if ((*tools)->GetStackTrace(tools, thread, 0, JVM_WALK_FRAMES_HERE, (jvmtiFrameInfo *)ret->here, &count) !=
	    JVMTI_ERROR_NONE)
		return;
	if (count == JVM_WALK_FRAMES_HERE) {
		if ((*tools)->GetFrameCount(tools, thread, &depth) != JVMTI_ERROR_NONE)
			return;
		depth += MORE_FRAMES;
		ret->frames = malloc((size_t)depth * sizeof *ret->frames);
		if (!ret->frames || (*tools)->GetStackTrace(tools, thread, 0, depth, (jvmtiFrameInfo *)ret->frames,
							    &count) != JVMTI_ERROR_NONE)
			return;
	}
	ret->count = count;
}

void jvm_walk_drop(struct jvm_walk_stack *stack)
{
	if (stack->frames != stack->here)
		free(stack->frames);
}

wm_context jvm_walk_stack_context(const struct JNINativeInterface_ **env, const struct jvm_walk_stack *stack,
				  size_t skipped, uint32_t root, const char *leaf)
{
	for (jint i = 0; i < stack->count; i++)
		jvm_method_names_ask(env, stack->frames[i].method);
	if (stack->count < 0 || (size_t)stack->count < skipped)
		return lost();
	return jvm_walk_context(root, stack->frames + skipped, (size_t)stack->count - skipped, leaf);
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
	struct jvm_walk_stack stack;
	char label[JVM_LABEL_BYTES] = "";
	wm_context ret;

	jvm_walk_take(NULL, &stack);
	if (class)
		describe_class(class, label);
	ret = jvm_walk_stack_context(env, &stack, skipped, jvm_walk_root(), *label ? label : NULL);
	jvm_walk_drop(&stack);
	return ret;
}
