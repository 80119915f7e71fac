/*
 * recorded_graph.c - builds the image of recorded code. Functions, sites and lines become the model that sections are read into,
 * so names and frames are those of any image. What the records do not name, the symbols and lines of its file do (recorded_files.h). The records of an epoch become an encoded call graph, which callgraph_adopt checks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "model/contexts/recorded_graph.h"
#include "object/demangle.h"

VEC_DECLARE(recorded_line_vec, struct wmk_line);
VEC_DECLARE(recorded_epoch_vec, struct recorded_epoch *);

struct recorded_epoch {
	uint32_t epoch;
	struct encoding encoding;
	struct hashmap calls; /* {site, callee}, as indices -> edge of the graph */
	struct error *why;    /* it cannot be used */
};

/* Where a function's code is. */
struct place {
	const struct recorded_file *file; /* NULL: in none */
	uint64_t address;                 /* less that of the file's ELF header */
};

/* What the file's DWARF says of a site. */
struct known_lines {
	bool is_known;
	struct frame *frames; /* outermost first */
	uint32_t count;
};

VEC_DECLARE(why_vec, const struct error *);

struct recorded {
	const struct wmk_file *wmk;
	struct recorded_files *files;
	struct place *places;      /* of functions */
	uint32_t *positions;       /* of sites */
	struct known_lines *lines; /* of sites, found when first needed */
	struct why_vec unnamed;    /* files that were not found, and have functions without names */
	struct hashmap functions;  /* number -> index */
	struct hashmap sites;      /* number -> index - 1 */
	struct recorded_epoch_vec epochs;
};

static bool find_number(const struct hashmap *map, uint32_t number, uint32_t *ret)
{
	return hashmap_find(map, &(struct key){{number, 0, 0}}, ret);
}

static struct error *add_number(struct hashmap *map, uint32_t number, uint32_t *ret)
{
	return hashmap_add(map, &(struct key){{number, 0, 0}}, ret);
}

/* ---- functions ---- */

static const char *string_or_null(const struct wmk_file *w, uint32_t number)
{
	return number == WMK_NO_STRING ? NULL : wmk_find_string(w, number);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct error *note_unnamed(struct recorded *r, const struct error *why)
{
	for (size_t i = 0; i < r->unnamed.count; i++)
		if (r->unnamed.items[i] == why)
			return NULL;
	return why_vec_append(&r->unnamed, why);
}

const struct error *recorded_why_unnamed(const struct image *image, size_t i)
{
	const struct recorded *r = image ? image->recorded : NULL;

	return r && i < r->unnamed.count ? r->unnamed.items[i] : NULL;
}

/* The place of a function of a file, and its name there if the record has none. */
static struct error *find_in_file(struct image *image, uint32_t index, const struct wmk_function *f,
				  const struct wmk_file_image *of)
{
	struct recorded *r = image->recorded;
	struct place *place = &r->places[index];
	struct error *err = r->files ? recorded_files_get(r->files, of, &place->file) : NULL;

	place->address = f->address;
	if (err || !place->file || string_or_null(r->wmk, f->name))
		return err;
	if (!place->file->symbols)
		return note_unnamed(r, place->file->why);
	image->meta.functions[index].name = symbols_function(place->file->symbols, f->address);
	return NULL;
}

/* A method's name is its class's and its own. Without a name the place is all there is. */
static const char *full_name(struct arena *arena, const struct wmk_file *w, const struct wmk_function *f,
			     const struct wmk_file_image *image)
{
	const char *name = string_or_null(w, f->name), *owner = string_or_null(w, f->owner);

	if (!name)
		return arena_printf(arena, "%s+0x%" PRIx64, last_part(image->path), f->address);
	return owner ? arena_printf(arena, "%s.%s", owner, name) : name;
}

/* Methods of two loaders, and those that differ in their parameters only, are told apart as the virtual machine does. */
static const char *link_name(struct arena *arena, const struct wmk_file *w, const struct wmk_function *f,
			     const struct wmk_file_image *image, const char *name)
{
	const char *descriptor = string_or_null(w, f->descriptor);

	if (image->record.kind != WMK_IMAGE_LOADER)
		return name;
	return arena_printf(arena, "%s%s%s%s", image->path, *image->path ? "//" : "", name,
			    descriptor ? descriptor : "");
}

static struct error *add_function(struct image *image, uint32_t number, const struct wmk_function *f)
{
	const struct wmk_file *w = image->recorded->wmk;
	const struct wmk_file_image *of = wmk_image_by_record(w, f->image);
	struct meta_function *ret;
	uint32_t index;
	struct error *err;

	if (!of || of->record.kind == WMK_IMAGE_SECTION)
		return error_create(ERROR_FORMAT, "%s: function %" PRIu32 " is of no image that is recorded: damaged",
				    w->name, number);
	err = add_number(&image->recorded->functions, number, &index);
	if (err)
		return err;
	ret = &image->meta.functions[index];
	if (of->record.kind == WMK_IMAGE_BINARY)
		err = find_in_file(image, index, f, of);
	if (err)
		return err;
	if (!ret->name)
		ret->name = full_name(&image->meta.arena, w, f, of);
	ret->link_name = ret->name ? link_name(&image->meta.arena, w, f, of, ret->name) : NULL;
	if (!ret->link_name)
		return &error_no_memory;
	ret->file = string_or_null(w, f->file);
	ret->line = f->line;
	ret->flags = f->flags & WMK_FUNCTION_EXPORTED ? META_FUNCTION_EXPORTED : 0;
	if (of->record.kind == WMK_IMAGE_LOADER) { /* nothing to demangle */
		image->function_names[index] = ret->name;
		ret->flags |= META_FUNCTION_METHOD;
	}
	image->meta.function_count = index + 1;
	return NULL;
}

static struct error *add_functions(struct image *image)
{
	const struct wmk_file *w = image->recorded->wmk;
	struct wmk_walk walk = {0};
	struct wmk_function f;
	uint32_t number;
	struct error *err = NULL;

	while (!err && wmk_next_function(w, &walk, &number, &f))
		err = add_function(image, number, &f);
	return err;
}

/* ---- lines ---- */

static int compare_lines(const void *a, const void *b)
{
	const struct wmk_line *i = a, *j = b;

	return compare_u64(i->function, j->function) ?: compare_u64(i->position, j->position);
}

static struct error *read_lines(const struct wmk_file *w, struct recorded_line_vec *ret)
{
	struct wmk_walk walk = {0};
	struct wmk_line line;
	struct error *err = NULL;

	while (!err && wmk_next_line(w, &walk, &line))
		err = recorded_line_vec_append(ret, line);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_lines);
	return err;
}

/* 0 when it is not known. */
static uint32_t line_at(const struct recorded_line_vec *lines, uint32_t function, uint32_t position)
{
	const struct wmk_line wanted = {.function = function, .position = position};
	size_t low = 0, high = lines->count;

	while (low < high) { /* the first behind it */
		size_t middle = low + (high - low) / 2;

		if (compare_lines(&lines->items[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && lines->items[low - 1].function == function ? lines->items[low - 1].line : 0;
}

/* ---- sites ---- */

static enum meta_site_kind kind_of(uint32_t kind)
{
	switch (kind) {
	case WMK_SITE_INDIRECT:
		return META_SITE_INDIRECT;
	case WMK_SITE_FOREIGN:
		return META_SITE_FOREIGN;
	case WMK_SITE_CAPTURE:
		return META_SITE_CAPTURE;
	case WMK_SITE_ENTRY:
		return META_SITE_ENTRY;
	default:
		return META_SITE_CALLEES;
	}
}

static struct error *wrong_site(const struct image *image, uint32_t number, const char *what)
{
	return error_create(ERROR_FORMAT, "%s: site %" PRIu32 " %s: damaged", image->meta.unit, number, what);
}

static struct error *add_site(struct image *image, const struct recorded_line_vec *lines, uint32_t number,
			      const struct wmk_site *s)
{
	uint32_t line = s->line ? s->line : line_at(lines, s->function, s->position);
	struct meta_site site = {.kind = kind_of(s->kind),
				 .flags = (s->flags & WMK_SITE_TAIL ? META_SITE_TAIL : 0) |
					  (s->flags & WMK_SITE_SELF ? META_SITE_SELF : 0)};
	uint32_t index;
	struct error *err;

	if (!find_number(&image->recorded->functions, s->function, &site.caller))
		return wrong_site(image, number, "is in no function that was recorded");
	if (site.kind == META_SITE_FOREIGN && s->flags & META_SITE_SELF)
		site.foreign = image->meta.functions[site.caller].link_name;
	else if (site.kind == META_SITE_FOREIGN || site.kind == META_SITE_INDIRECT)
		site.foreign = string_or_null(image->recorded->wmk, s->name);
	if (site.kind == META_SITE_FOREIGN && !site.foreign)
		return wrong_site(image, number, "calls what has no name");
	err = add_number(&image->recorded->sites, number, &index);
	if (err)
		return err;
	image->recorded->positions[index + 1] = s->position;
	if (line) {
		image->meta.locations[image->meta.location_count++] =
			(struct meta_location){.file = image->meta.functions[site.caller].file, .line = line};
		site.location = image->meta.location_count;
	}
	image->meta.sites[index + 1] = site;
	image->meta.site_count = index + 2;
	return NULL;
}

static struct error *add_sites(struct image *image)
{
	const struct wmk_file *w = image->recorded->wmk;
	struct recorded_line_vec lines = {0};
	struct wmk_walk walk = {0};
	struct wmk_site s;
	uint32_t number;
	struct error *err = read_lines(w, &lines);

	while (!err && wmk_next_site(w, &walk, &number, &s))
		err = add_site(image, &lines, number, &s);
	recorded_line_vec_deinit(&lines);
	return err;
}

/* ---- lines of files ---- */

/* The function itself is the outermost of `count` lines, which are innermost first. */
static struct error *make_frames(struct image *image, const struct meta_site *s, const struct debug_line *lines,
				 uint32_t count, struct frame *ret)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct debug_line *line = &lines[count - 1 - i];
		const char *link_name = line->function;
		struct frame *frame = &ret[i];

		*frame = (struct frame){.file = line->file, .line = line->line, .column = line->column};
		frame->flags = i ? FRAME_INLINED : 0;
		if (i && !link_name)
			link_name = "[inlined]";
		frame->name = i ? demangle(&image->meta.arena, link_name) : image_function_name(image, s->caller);
		frame->link_name = i ? link_name : image->meta.functions[s->caller].link_name;
		if (!frame->name)
			return &error_no_memory;
	}
	if (s->flags & META_SITE_TAIL)
		ret[count - 1].flags |= FRAME_TAIL;
	return NULL;
}

static struct error *find_lines(struct image *image, uint32_t site, struct known_lines *ret)
{
	const struct meta_site *s = &image->meta.sites[site];
	const struct place *place = &image->recorded->places[s->caller];
	const struct debug_line *lines;
	struct error *err;
	int32_t position;

	ret->is_known = true;
	if (!place->file || !place->file->symbols)
		return NULL;
	position = (int32_t)image->recorded->positions[site]; /* below the function: in its cold part */
	err = symbols_lines(place->file->symbols, place->address + (uint64_t)(int64_t)position, &lines, &ret->count);
	if (err)
		return err;
	if (!ret->count || (ret->count == 1 && !lines[0].line)) {
		ret->count = 0;
		return NULL;
	}
	ret->frames = arena_calloc(&image->meta.arena, ret->count, sizeof *ret->frames);
	err = ret->frames ? make_frames(image, s, lines, ret->count, ret->frames) : &error_no_memory;
	if (err)
		*ret = (struct known_lines){0};
	return err;
}

struct error *recorded_append_lines(struct image *image, uint32_t site, struct frame_vec *frames, bool *ret)
{
	struct known_lines *known = &image->recorded->lines[site];
	struct error *err = known->is_known ? NULL : find_lines(image, site, known);

	for (uint32_t i = 0; i < known->count && !err; i++)
		err = frame_vec_append(frames, known->frames[i]);
	*ret = known->count > 0;
	return err;
}

/* ---- the image ---- */

static struct error *alloc_tables(struct image *image)
{
	struct meta *m = &image->meta;
	uint64_t functions = image->recorded->wmk->place_count[WMK_FUNCTIONS];
	uint64_t sites = image->recorded->wmk->place_count[WMK_SITES];

	m->functions = arena_calloc(&m->arena, functions + 1, sizeof *m->functions);
	m->sites = arena_calloc(&m->arena, sites + 1, sizeof *m->sites);
	m->locations = arena_calloc(&m->arena, sites + 1, sizeof *m->locations);
	m->site_count = 1;
	image->recorded->places = arena_calloc(&m->arena, functions + 1, sizeof *image->recorded->places);
	image->recorded->positions = arena_calloc(&m->arena, sites + 1, sizeof *image->recorded->positions);
	image->recorded->lines = arena_calloc(&m->arena, sites + 1, sizeof *image->recorded->lines);
	if (!m->functions || !m->sites || !m->locations || !image->recorded->places || !image->recorded->positions ||
	    !image->recorded->lines)
		return &error_no_memory;
	return image_alloc_names(image, functions, sites, sites);
}

struct error *recorded_image_create(const struct wmk_file *w, struct recorded_files *files, struct image **ret)
{
	struct image *image;
	struct error *err;

	*ret = NULL;
	if (!w->place_count[WMK_FUNCTIONS] && !w->place_count[WMK_SITES])
		return NULL;
	image = calloc(1, sizeof *image);
	if (!image)
		return &error_no_memory;
	meta_init(&image->meta);
	image->meta.unit = w->name;
	callgraph_init(&image->encoding.graph, NULL);
	image->recorded = calloc(1, sizeof *image->recorded);
	err = image->recorded ? NULL : &error_no_memory;
	if (!err) {
		image->recorded->wmk = w;
		image->recorded->files = files;
		err = alloc_tables(image);
	}
	if (!err)
		err = add_functions(image);
	if (!err)
		err = add_sites(image);
	if (err)
		image_destroy(image);
	else
		*ret = image;
	return err;
}

uint32_t recorded_find_site(const struct image *image, uint32_t site)
{
	uint32_t index;

	return find_number(&image->recorded->sites, site, &index) ? index + 1 : 0;
}

uint32_t recorded_site_number(const struct recorded *r, uint32_t index)
{
	return (uint32_t)r->sites.keys[index - 1].words[0];
}

/* ---- epochs ---- */

static void epoch_destroy(struct recorded_epoch *e)
{
	encoding_deinit(&e->encoding);
	hashmap_deinit(&e->calls);
	error_destroy(e->why);
	free(e);
}

void recorded_destroy(struct recorded *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->epochs.count; i++)
		epoch_destroy(r->epochs.items[i]);
	recorded_epoch_vec_deinit(&r->epochs);
	why_vec_deinit(&r->unnamed);
	hashmap_deinit(&r->functions);
	hashmap_deinit(&r->sites);
	free(r);
}

static struct error *find_epoch_record(const struct wmk_file *w, uint32_t epoch, struct wmk_epoch *ret)
{
	struct wmk_walk walk = {0};
	struct wmk_epoch record;
	bool is_found = false;

	while (wmk_next_epoch(w, &walk, &record)) {
		if (record.epoch != epoch)
			continue;
		if (is_found)
			return error_create(ERROR_FORMAT, "damaged: it began twice");
		is_found = true;
		*ret = record;
	}
	return is_found ? NULL : error_create(ERROR_NOT_FOUND, "how calls were encoded in it was not recorded");
}

/* A function that is not in the epoch has one context and no range: no id leads to it. */
static struct error *add_nodes(const struct image *image, struct callgraph *g)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < image->meta.function_count && !err; i++) {
		uint32_t node;

		err = callgraph_add_node(g, false, &node);
	}
	return err;
}

static struct error *set_nodes(const struct image *image, uint32_t epoch, struct callgraph *g, uint32_t *ret_count)
{
	struct wmk_walk walk = {0};
	struct wmk_epoch_function f;
	uint32_t index;

	while (wmk_next_epoch_function(image->recorded->wmk, &walk, &f)) {
		struct callgraph_node *node;

		if (f.epoch != epoch)
			continue;
		if (!find_number(&image->recorded->functions, f.function, &index))
			return error_create(ERROR_FORMAT, "damaged: function %" PRIu32 " was not recorded", f.function);
		node = &g->nodes[index];
		if (node->contexts)
			return error_create(ERROR_FORMAT, "damaged: function %" PRIu32 " is in it twice", f.function);
		if (!f.contexts)
			return error_create(ERROR_FORMAT, "damaged: function %" PRIu32 " has no context", f.function);
		*node = (struct callgraph_node){.is_root = f.flags & WMK_EPOCH_ROOT,
						.has_dummy = f.flags & WMK_EPOCH_HAS_DUMMY,
						.restart = f.restart,
						.contexts = f.contexts};
		++*ret_count;
	}
	return NULL;
}

static struct error *add_edge(const struct image *image, struct recorded_epoch *e, const struct wmk_epoch_edge *record)
{
	struct callgraph *g = &e->encoding.graph;
	uint32_t site = recorded_find_site(image, record->site), callee, number, edge;
	const struct meta_site *s = &image->meta.sites[site];
	struct error *err;

	if (!site || (s->kind != META_SITE_CALLEES && s->kind != META_SITE_INDIRECT))
		return error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " makes no such call", record->site);
	if (!find_number(&image->recorded->functions, record->callee, &callee) || !g->nodes[callee].contexts ||
	    !g->nodes[s->caller].contexts)
		return error_create(ERROR_FORMAT,
				    "damaged: site %" PRIu32 " calls function %" PRIu32
				    ", and one of them is not in it",
				    record->site, record->callee);
	err = hashmap_add(&e->calls, &(struct key){{site, callee, 0}}, &number);
	if (!err && number < g->edge_count)
		err = error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " calls function %" PRIu32 " twice",
				   record->site, record->callee);
	if (!err)
		err = callgraph_add_edge(g, s->caller, callee, site, 0, &edge);
	if (err)
		return err;
	g->edges[edge].kind = (enum edge_kind)record->kind;
	g->edges[edge].addend = record->addend;
	return NULL;
}

static struct error *add_edges(const struct image *image, struct recorded_epoch *e)
{
	struct wmk_walk walk = {0};
	struct wmk_epoch_edge edge;
	struct error *err = NULL;

	while (!err && wmk_next_epoch_edge(image->recorded->wmk, &walk, &edge))
		if (edge.epoch == e->epoch)
			err = add_edge(image, e, &edge);
	return err;
}

static struct error *check_whole(const struct recorded_epoch *e, const struct wmk_epoch *record, uint32_t functions)
{
	if (functions >= record->function_count && e->encoding.graph.edge_count >= record->edge_count)
		return NULL;
	return error_create(ERROR_NOT_FOUND,
			    "%" PRIu32 " of %" PRIu32 " functions and %" PRIu32 " of %" PRIu32 " calls of it are there",
			    functions, record->function_count, e->encoding.graph.edge_count, record->edge_count);
}

static struct error *read_epoch(const struct image *image, struct recorded_epoch *e)
{
	struct callgraph *g = &e->encoding.graph;
	struct wmk_epoch record;
	uint32_t functions = 0;
	struct error *err;

	err = find_epoch_record(image->recorded->wmk, e->epoch, &record) ?:
	      add_nodes(image, g) ?:
	      set_nodes(image, e->epoch, g, &functions) ?:
	      add_edges(image, e) ?:
	      check_whole(e, &record, functions);
	for (uint32_t i = 0; !err && i < g->node_count; i++)
		if (!g->nodes[i].contexts)
			g->nodes[i].contexts = 1;
	if (!err)
		err = encoding_adopt(&e->encoding);
	return err;
}

static struct error *new_epoch(struct image *image, uint32_t epoch, struct recorded_epoch **ret)
{
	struct recorded_epoch *e = calloc(1, sizeof *e);
	struct error *err = e ? recorded_epoch_vec_append(&image->recorded->epochs, e) : &error_no_memory;

	if (err) {
		free(e);
		return err;
	}
	e->epoch = epoch;
	callgraph_init(&e->encoding.graph, NULL);
	e->why = read_epoch(image, e);
	if (e->why)
		e->why = error_context(e->why, "%s: epoch %" PRIu32, image->meta.unit, epoch);
	*ret = e;
	return NULL;
}

static struct error *get_epoch(struct image *image, uint32_t epoch, struct recorded_epoch **ret)
{
	struct recorded *r = image->recorded;
	struct recorded_epoch *e = NULL;
	struct error *err = NULL;

	for (size_t i = 0; i < r->epochs.count && !e; i++)
		if (r->epochs.items[i]->epoch == epoch)
			e = r->epochs.items[i];
	if (!e)
		err = new_epoch(image, epoch, &e);
	if (err)
		return err;
	if (e->why)
		return error_create(e->why->code, "%s", e->why->message);
	*ret = e;
	return NULL;
}

struct error *recorded_encoding(struct image *image, uint32_t epoch, struct encoding **ret)
{
	struct recorded_epoch *e;
	struct error *err = get_epoch(image, epoch, &e);

	if (!err)
		*ret = &e->encoding;
	return err;
}

struct error *recorded_is_pushed_call(struct image *image, uint32_t epoch, uint32_t site, uint32_t callee,
				      bool may_be_encoded, bool *ret)
{
	struct recorded_epoch *e;
	uint32_t edge;
	struct error *err = get_epoch(image, epoch, &e);

	if (!err)
		*ret = hashmap_find(&e->calls, &(struct key){{site, callee, 0}}, &edge) &&
		       (may_be_encoded || e->encoding.graph.edges[edge].kind != EDGE_ENCODED);
	return err;
}
