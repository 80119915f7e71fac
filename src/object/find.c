/*
 * find.c - reads candidate files (locate.h) until one fits; of the others remembers the most telling reason, so that the message
 * can name the file that the user probably meant.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/find.h"

/* How telling a reason is; a higher one replaces a lower one. */
enum reason {
	REASON_NONE = 0,
	REASON_UNREADABLE,
	REASON_OTHER_BUILD,
	REASON_NO_SECTION,
	REASON_DAMAGED,
};

struct file_search;

/* The section to find. */
struct wanted_section {
	enum object_section section; /* a file without it is none */
	unsigned int sections;       /* all that are read, as bits */
	const char *option;          /* of waymark cc, which builds with it; may be empty */
	/* o has `section`. Fills h->m or leaves it alone. */
	struct error *(*take)(struct file_search *h, const char *path, const struct object *o);
};

struct file_search {
	const struct object_wanted *wanted;
	const struct wanted_section *wanted_section;
	void *m; /* what wanted_section->take fills */
	enum reason reason;
	struct error *why;     /* of `reason` */
	struct path_vec links; /* of the right build, but stripped: file, its .gnu_debuglink, file, ... */
};

/* Takes err. */
static void remember(struct file_search *h, enum reason reason, struct error *err)
{
	if (reason <= h->reason) {
		error_destroy(err);
		return;
	}
	error_destroy(h->why);
	h->why = err;
	h->reason = reason;
}

static bool is_wanted_build(const struct object_wanted *wanted, const struct build_id *id)
{
	if (wanted->build_id.len_bytes == 0)
		return true; /* the key decides */
	if (wanted->is_partial)
		return id->len_bytes >= wanted->build_id.len_bytes &&
		       memcmp(id->bytes, wanted->build_id.bytes, wanted->build_id.len_bytes) == 0;
	return build_id_equal(&wanted->build_id, id);
}

static bool is_wanted_key(const struct object_wanted *wanted, uint64_t key)
{
	if (!wanted->has_key)
		return true;
	return wanted->is_partial ? (uint32_t)key == (uint32_t)wanted->key : key == wanted->key;
}

static struct error *other_build(const struct object_wanted *wanted, const char *path, const struct build_id *id)
{
	char have[BUILD_ID_TEXT_MAX], want[BUILD_ID_TEXT_MAX];

	return error_create(
		ERROR_MISMATCH,
		"%s: is of another build: its build id is %s, %s%s is wanted: give the file that ran with --exe", path,
		build_id_text(id, have), build_id_text(&wanted->build_id, want), wanted->is_partial ? "..." : "");
}

static char *section_name(const char *path, enum object_section section)
{
	char *name;

	return asprintf(&name, "%s: %s", path, object_section_name(section)) < 0 ? NULL : name;
}

static struct error *take_contexts(struct file_search *h, const char *path, const struct object *o)
{
	const struct object_bytes *section = &o->sections[OBJECT_CONTEXTS];
	char *name = section_name(path, OBJECT_CONTEXTS);
	struct meta m;
	struct error *err = &error_no_memory;

	meta_init(&m);
	if (name)
		err = meta_read(section->bytes, section->len_bytes, name, &m);
	free(name);
	if (!err && !is_wanted_key(h->wanted, m.key)) {
		err = error_create(ERROR_MISMATCH,
				   "%s: its metadata has key %016" PRIx64 ", %016" PRIx64
				   " is wanted: it is of another build, give the file that ran with --exe",
				   path, m.key, h->wanted->key);
	} else if (!err) {
		meta_deinit(h->m);
		*(struct meta *)h->m = m;
		return NULL;
	}
	meta_deinit(&m);
	return err;
}

static struct error *read_flow(const char *path, const struct object *o, enum object_section section,
			       struct pathmeta *m)
{
	char *name = section_name(path, section);
	struct error *err = &error_no_memory;

	if (name)
		err = pathmeta_read(o->sections[section].bytes, o->sections[section].len_bytes, name, m);
	free(name);
	return err;
}

static struct error *take_paths(struct file_search *h, const char *path, const struct object *o)
{
	return read_flow(path, o, OBJECT_PATHS, h->m);
}

static struct error *read_trace(const char *path, const struct object *o, struct tracemeta *m)
{
	char *name = section_name(path, OBJECT_TRACE);
	struct error *err = &error_no_memory;

	if (name)
		err = tracemeta_read(o->sections[OBJECT_TRACE].bytes, o->sections[OBJECT_TRACE].len_bytes, name, m);
	free(name);
	return err;
}

/* The flow of each traced function. */
static struct error *join_flows(const char *path, struct object_trace *t)
{
	t->flows = arena_calloc(&t->meta.arena, (size_t)t->meta.function_count + 1, sizeof *t->flows);
	if (!t->flows)
		return &error_no_memory;
	for (uint32_t i = 0; i < t->meta.function_count; i++) {
		const struct tracemeta_function *f = &t->meta.functions[i];

		t->flows[i] = pathmeta_find(&t->flow, f->name_key, f->cfg_key);
		if (!t->flows[i] || t->flows[i]->cfg.node_count != f->node_count)
			return error_create(
				ERROR_FORMAT,
				"%s: function %" PRIu32
				" of .debug_waymark_trace is not in .debug_waymark_flow: the file is damaged",
				path, i);
	}
	return NULL;
}

static struct error *read_points(const char *path, const struct object *o, struct object_trace *t)
{
	static const uint8_t none[1];
	const struct object_bytes *section = &o->sections[OBJECT_POINTS];
	char *name = section_name(path, OBJECT_POINTS);
	struct error *err = &error_no_memory;

	if (name)
		err = tracepoints_read(section->bytes ? section->bytes : none, section->len_bytes, name, &t->meta,
				       &t->points);
	free(name);
	return err;
}

static struct error *read_blocks(const char *path, const struct object *o, struct bbmap *m)
{
	char *name = section_name(path, OBJECT_BLOCKS);
	struct error *err = &error_no_memory;

	if (name)
		err = bbmap_read(o->sections[OBJECT_BLOCKS].bytes, o->sections[OBJECT_BLOCKS].len_bytes, name, m);
	free(name);
	return err;
}

static struct error *take_trace(struct file_search *h, const char *path, const struct object *o)
{
	struct object_trace t = {0};
	struct error *err;

	tracemeta_init(&t.meta);
	pathmeta_init(&t.flow);
	err = read_trace(path, o, &t.meta);

	if (!err && !o->sections[OBJECT_FLOW].bytes)
		err = error_create(ERROR_FORMAT, "%s: has %s but no %s: the file is damaged", path,
				   object_section_name(OBJECT_TRACE), object_section_name(OBJECT_FLOW));
	if (!err)
		err = read_flow(path, o, OBJECT_FLOW, &t.flow);
	if (!err)
		err = join_flows(path, &t);
	if (!err)
		err = read_points(path, o, &t);
	if (err)
		object_trace_deinit(&t);
	else
		*(struct object_trace *)h->m = t;
	return err;
}

static struct error *take_blocks(struct file_search *h, const char *path, const struct object *o)
{
	return read_blocks(path, o, h->m);
}

static struct error *take_bitcode(struct file_search *h, const char *path, const struct object *o)
{
	char *name = section_name(path, OBJECT_IR);
	struct error *err = &error_no_memory;

	if (name)
		err = bitcode_read(o->sections[OBJECT_IR].bytes, o->sections[OBJECT_IR].len_bytes, name, h->m);
	free(name);
	return err;
}

void object_trace_deinit(struct object_trace *t)
{
	tracemeta_deinit(&t->meta);
	pathmeta_deinit(&t->flow);
	tracepoints_deinit(&t->points);
	bbmap_deinit(&t->blocks);
	error_destroy(t->why);
	*t = (struct object_trace){0};
}

static struct error *no_section(const struct file_search *h, const char *path)
{
	const char *option = h->wanted_section->option;

	return error_create(ERROR_NOT_FOUND,
			    "%s: has no %s (stripped, or not built with waymark cc%s%s): give the unstripped file with "
			    "--exe or its debug file with --debug-dir",
			    path, object_section_name(h->wanted_section->section), *option ? " " : "", option);
}

static void note_debuglink(struct file_search *h, const char *path, const char *link)
{
	struct error *err = path_vec_add(&h->links, path);

	if (!err && (err = path_vec_add(&h->links, link)) != NULL)
		free(h->links.items[--h->links.count]);
	error_destroy(err);
}

/* Is it what is looked for? Remembers why not. */
static bool take_object(struct file_search *h, const char *path, const struct object *o)
{
	struct error *err;

	if (!is_wanted_build(h->wanted, &o->build_id)) {
		remember(h, REASON_OTHER_BUILD, other_build(h->wanted, path, &o->build_id));
		return false;
	}
	if (!o->sections[h->wanted_section->section].bytes) {
		remember(h, REASON_NO_SECTION, no_section(h, path));
		if (o->debuglink)
			note_debuglink(h, path, o->debuglink);
		return false;
	}
	err = h->wanted_section->take(h, path, o);
	if (err)
		remember(h, err->code == ERROR_MISMATCH ? REASON_OTHER_BUILD : REASON_DAMAGED, err);
	return !err;
}

static bool try_file(void *state, const char *path)
{
	struct file_search *h = state;
	struct object o;
	struct error *err = object_read(path, h->wanted_section->sections, &o);
	bool is_taken;

	if (err) {
		remember(h, REASON_UNREADABLE, err);
		return false;
	}
	is_taken = take_object(h, path, &o);
	object_deinit(&o);
	return is_taken;
}

static void note_directory(void *state, const char *dir, int errnum)
{
	remember(state, REASON_UNREADABLE, error_os(errnum, "%s", dir));
}

static struct error *nothing_found(struct file_search *h)
{
	const struct object_wanted *wanted = h->wanted;
	char text[BUILD_ID_TEXT_MAX];
	struct error *why = h->why;

	h->why = NULL;
	if (why)
		return why;
	build_id_text(&wanted->build_id, text);
	if (!wanted->build_id.len_bytes && wanted->has_key)
		return error_create(ERROR_NOT_FOUND,
				    "%s: no file with metadata key %016" PRIx64 " found: give it with --exe",
				    wanted->path ? wanted->path : "?", wanted->key);
	return error_create(ERROR_NOT_FOUND, "no program or debug file with build id %s%s found: give it with --exe",
			    text, wanted->is_partial ? "..." : "");
}

static struct error *find(const struct object_search *s, const struct object_wanted *wanted,
			  const struct wanted_section *wanted_section, void *m)
{
	struct file_search h = {.wanted = wanted, .wanted_section = wanted_section, .m = m};
	const struct locate files = {
		.search = s,
		.path = wanted->path,
		.build_id = wanted->build_id,
		.is_partial = wanted->is_partial,
		.wants_program = true,
		.wants_debug = true,
		.try = try_file,
		.unreadable = note_directory,
		.state = &h,
	};
	bool is_found = locate_file(&files);
	struct error *err;

	/* These files add no links to follow, so count is read once. */
	for (size_t i = 0, count = h.links.count; i < count && !is_found; i += 2)
		is_found = locate_debuglink(&files, h.links.items[i], h.links.items[i + 1]);
	err = is_found ? NULL : nothing_found(&h);
	error_destroy(h.why);
	path_vec_free(&h.links);
	return err;
}

struct error *object_find_meta(const struct object_search *s, const struct object_wanted *wanted, struct meta *m)
{
	static const struct wanted_section contexts = {OBJECT_CONTEXTS, 1u << OBJECT_CONTEXTS, "", take_contexts};

	return find(s, wanted, &contexts, m);
}

struct error *object_find_paths(const struct object_search *s, const struct object_wanted *wanted, struct pathmeta *m)
{
	static const struct wanted_section paths = {OBJECT_PATHS, 1u << OBJECT_PATHS, "--wm=paths", take_paths};

	return find(s, wanted, &paths, m);
}

struct error *object_find_trace(const struct object_search *s, const struct object_wanted *wanted,
				struct object_trace *ret)
{
	static const struct wanted_section trace = {
		OBJECT_TRACE, 1u << OBJECT_TRACE | 1u << OBJECT_FLOW | 1u << OBJECT_POINTS, "--wm=trace", take_trace};
	static const struct wanted_section blocks = {OBJECT_BLOCKS, 1u << OBJECT_BLOCKS, "--wm=trace", take_blocks};
	struct object_trace t = {0};
	struct error *err = find(s, wanted, &trace, &t);

	if (err)
		return err;
	t.why = find(s, wanted, &blocks, &t.blocks);
	*ret = t;
	return NULL;
}

struct error *object_find_bitcode(const struct object_search *s, const struct object_wanted *wanted,
				  struct bitcode_vec *ret)
{
	static const struct wanted_section bitcode = {OBJECT_IR, 1u << OBJECT_IR, "--wm=trace", take_bitcode};

	return find(s, wanted, &bitcode, ret);
}
