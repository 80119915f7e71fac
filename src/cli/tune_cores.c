/*
 * tune_cores.c - `waymark tune --from`: matches the frames of a core with the functions that can be tuned, by name and, since
 * local functions of several files may have the same, by file.
 */
#include "cli/tune_cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/crash/crash.h"
#include "waymark/trace.h"

/* The program as given is the process's own; else it may be a library, and the core names the program. */
static struct error *open_core(const struct tune_image *t, const struct object_search *search, const char *core,
			       struct snapshot *ret)
{
	struct snapshot_options options = {.program = t->path, .search = search};
	struct error *err = snapshot_open_core(core, &options, ret), *other;

	if (!err || err->code != ERROR_MISMATCH)
		return err;
	options.program = NULL;
	other = snapshot_open_core(core, &options, ret);
	if (other) {
		error_destroy(other);
		return err;
	}
	error_destroy(err);
	return NULL;
}

/* The module that t is the file of. */
static struct error *find_module(const struct tune_image *t, const char *core, const struct snapshot *s, uint32_t *ret)
{
	struct object o;
	struct error *err = object_read(t->path, 0, &o);
	char text[BUILD_ID_TEXT_MAX];

	if (err)
		return err;
	for (uint32_t i = 0; i < s->module_count; i++) {
		const struct snapshot_module *m = &s->modules[i];

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

/* The marks of one core. */
struct marks {
	const struct tune_image *t;
	bool *is_seen;   /* [t->function_count] */
	bool *is_single; /* [functions of the image's metadata]: has one scheme only, and that keeps no paths */
	const struct crash *c;
	uint32_t module;
	struct tune_from from;
};

static void add_pathless(struct marks *m, const char *name)
{
	if (!m->from.pathless++)
		snprintf(m->from.example, sizeof m->from.example, "%s", name);
}

static bool has_paths(const struct tracemeta_function *f)
{
	for (uint32_t i = 0; i < f->variant_count; i++)
		if (f->variants[i].scheme & WM1_SCHEME_PATHS)
			return true;
	return false;
}

/* A function that was not compiled several times (computed goto, or by the rules) has nothing to choose. */
static void mark_single(struct marks *m, const struct crash_frame *frame)
{
	const struct tracemeta_function *all = m->c->images[m->module].trace.meta.functions;
	bool *is_single = frame->meta ? &m->is_single[frame->meta - all] : NULL;

	if (!is_single || *is_single || has_paths(frame->meta))
		return;
	*is_single = true;
	add_pathless(m, frame->name ? frame->name : frame->function);
}

static void mark(struct marks *m, const struct crash_frame *frame)
{
	bool is_any = false;

	if (!frame->function) {
		m->from.nameless++;
		return;
	}
	for (uint32_t i = 0; i < m->t->function_count; i++) {
		if (is_function(&m->t->functions[i], frame)) {
			m->is_seen[i] = true;
			is_any = true;
		}
	}
	if (!is_any)
		mark_single(m, frame);
}

static void mark_stacks(struct marks *m)
{
	for (uint32_t i = 0; i < m->c->thread_count; i++)
		for (uint32_t k = 0; k < m->c->threads[i].frame_count; k++)
			if (m->c->threads[i].frames[k].image == m->module)
				mark(m, &m->c->threads[i].frames[k]);
}

static struct error *choose(struct marks *m)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->t->function_count && !err; i++) {
		struct tune_function *f = &m->t->functions[i];
		uint8_t scheme = with_paths(f);

		if (!m->is_seen[i])
			continue;
		if (!(scheme & WM1_SCHEME_PATHS)) {
			add_pathless(m, f->shown);
			continue;
		}
		m->from.functions++;
		err = tune_choose(m->t, f, scheme);
	}
	return err;
}

static struct error *choose_for_stacks(const struct tune_image *t, const struct crash *c, uint32_t module,
				       struct tune_from *ret)
{
	struct marks m = {.t = t, .c = c, .module = module};
	struct error *err = &error_no_memory;

	m.is_seen = calloc((size_t)t->function_count + 1, sizeof *m.is_seen);
	m.is_single = calloc((size_t)c->images[module].trace.meta.function_count + 1, sizeof *m.is_single);
	if (m.is_seen && m.is_single) {
		mark_stacks(&m);
		err = choose(&m);
	}
	free(m.is_seen);
	free(m.is_single);
	if (!err)
		*ret = m.from;
	return err;
}

struct error *tune_from_core(const struct tune_image *t, const struct object_search *search, const char *core,
			     struct tune_from *ret)
{
	struct snapshot s;
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
	snapshot_close(&s);
	return err;
}
