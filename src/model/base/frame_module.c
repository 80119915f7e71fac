/* frame_module.c - modules by file, by class and by image. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/base/frame_module.h"

const char frame_no_image[] = "[no image]";

/* The class of package.Class.method, and of [indirect:package.Class.method]. NULL: no memory. */
static const char *class_of(struct arena *arena, const char *method)
{
	const char *colon = *method == '[' ? strchr(method, ':') : NULL;
	const char *start = colon ? colon + 1 : method, *end = strrchr(start, '.');

	return arena_strndup(arena, start, end ? (size_t)(end - start) : strlen(start));
}

const char *frame_module(struct arena *arena, const struct frame *f)
{
	if (f->flags & FRAME_METHOD)
		return class_of(arena, f->name);
	if (f->file)
		return f->file;
	return f->image ? text_base_name(f->image) : frame_no_image;
}

static bool path_matches(const char *path, const struct pattern_vec *patterns)
{
	return path && (patterns_match(patterns, path) || patterns_match(patterns, text_base_name(path)));
}

bool frame_is_of_module(const struct frame *f, const struct pattern_vec *patterns)
{
	struct arena arena;
	bool is_of_class;

	if (path_matches(f->file, patterns) || path_matches(f->image, patterns))
		return true;
	if (!(f->flags & FRAME_METHOD))
		return false;
	arena_init(&arena);
	is_of_class = patterns_match(patterns, class_of(&arena, f->name));
	arena_deinit(&arena);
	return is_of_class;
}
