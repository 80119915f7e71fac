/*
 * tune_cores.c - `waymark tune --from`: matches the frames of a core with the functions that can be tuned, by name and, since
 * local functions of several files may have the same, by file.
 */
#include "cli/tune_cores.h"

#include <stdlib.h>
#include <string.h>

#include "report/crash.h"
#include "waymark/trace.h"

/* The program as given is the process's own; else it may be a library, and the core names the program. */
static struct error *open_core(const struct tune_image *t, const struct object_search *search, const char *core,
			       struct stopped *ret)
{
	struct stopped_options options = {.program = t->path, .search = search};
	struct error *err = stopped_open_core(core, &options, ret), *other;

	if (!err || err->code != ERROR_MISMATCH)
		return err;
	options.program = NULL;
	other = stopped_open_core(core, &options, ret);
	if (other) {
		error_destroy(other);
		return err;
	}
	error_destroy(err);
	return NULL;
}

/* The module that t is the file of. */
static struct error *find_module(const struct tune_image *t, const char *core, const struct stopped *s, uint32_t *ret)
{
	struct object o;
	struct error *err = object_read(t->path, 0, &o);
	char text[BUILD_ID_TEXT_MAX];

	if (err)
		return err;
	for (uint32_t i = 0; i < s->module_count; i++) {
		const struct stopped_module *m = &s->modules[i];

		if (o.build_id.len_bytes ? build_id_equal(&o.build_id, &m->build_id)
					 : m->path && strcmp(m->path, t->path) == 0) {
			*ret = i;
			object_deinit(&o);
			return NULL;
		}
	}
	err = error_create(ERROR_MISMATCH, "%s: its process had no image of the build of %s (build id %s)", core,
			   t->name, build_id_text(&o.build_id, text));
	object_deinit(&o);
	return err;
}

/* Without what keeps copies apart: "f.wm.cc+pt" and "f.123" are f. */
static bool is_name(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return len && strncmp(name, wanted, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

static bool is_function(const struct tune_function *f, const struct crash_frame *frame)
{
	const char *file = frame->flow ? frame->flow->file : NULL;

	if (file && f->file[0] && strcmp(file, f->file) != 0)
		return false;
	return is_name(frame->function, f->name) || is_name(frame->function, f->plain);
}

static uint8_t with_paths(const struct tune_function *f)
{
	uint8_t now = f->schemes[f->chosen], best = now;

	for (uint8_t i = 0; i < f->scheme_count; i++) {
		uint8_t scheme = f->schemes[i];

		if (scheme == (now | WM1_SCHEME_PATHS))
			return scheme;
		if (scheme & WM1_SCHEME_PATHS && (!(best & WM1_SCHEME_PATHS) || scheme > best))
			best = scheme;
	}
	return best;
}

static void mark(const struct tune_image *t, const struct crash_frame *frame, bool *is_seen)
{
	for (uint32_t i = 0; i < t->function_count; i++)
		is_seen[i] |= is_function(&t->functions[i], frame);
}

static struct error *choose(const struct tune_image *t, const bool *is_seen, struct tune_from *ret)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < t->function_count && !err; i++) {
		struct tune_function *f = &t->functions[i];
		uint8_t scheme;

		if (!is_seen[i])
			continue;
		scheme = with_paths(f);
		ret->functions++;
		ret->pathless += !(scheme & WM1_SCHEME_PATHS);
		err = tune_choose(t, f, scheme);
	}
	return err;
}

static struct error *choose_for_stacks(const struct tune_image *t, const struct crash *c, uint32_t module,
				       struct tune_from *ret)
{
	bool *is_seen = calloc((size_t)t->function_count + 1, sizeof *is_seen);
	struct tune_from from = {0};
	struct error *err;

	if (!is_seen)
		return &error_no_memory;
	for (uint32_t i = 0; i < c->thread_count; i++) {
		for (uint32_t k = 0; k < c->threads[i].frame_count; k++) {
			const struct crash_frame *frame = &c->threads[i].frames[k];

			if (frame->image != module)
				continue;
			if (frame->function)
				mark(t, frame, is_seen);
			else
				from.nameless++;
		}
	}
	err = choose(t, is_seen, &from);
	free(is_seen);
	if (!err)
		*ret = from;
	return err;
}

struct error *tune_from_core(const struct tune_image *t, const struct object_search *search, const char *core,
			     struct tune_from *ret)
{
	struct stopped s;
	struct crash c;
	uint32_t module;
	struct error *err = open_core(t, search, core, &s);

	if (err)
		return err;
	err = find_module(t, core, &s, &module);
	if (!err)
		err = crash_create(&s, search, &c);
	if (!err) {
		err = choose_for_stacks(t, &c, module, ret);
		crash_deinit(&c);
	}
	stopped_close(&s);
	return err;
}
