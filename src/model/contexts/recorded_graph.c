/*
 * recorded_graph.c - builds the image of recorded code. Functions, sites and lines become the model that sections are read into,
 * so names and frames are those of any image. What the records do not name, the symbols and lines of its file do (recorded_files.h). The records of an epoch become an encoded call graph, which callgraph_adopt checks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "base/text.h"
#include "core/contexts/callgraph_ranks.h"
#include "model/contexts/recorded_graph.h"
#include "object/demangle.h"
#include "object/perf_map.h"

enum {
	NAMES_MIN = 1 << 22, /* bytes of names of a file of any size */
	NAMES_PER_BYTE = 16,
};

VEC_DECLARE(recorded_line_vec, struct wmk_line);
VEC_DECLARE(recorded_epoch_vec, struct recorded_epoch *);

VEC_DECLARE(function_vec, uint32_t);
VEC_DECLARE(number_vec, uint32_t);
VEC_DECLARE(chain_vec, struct wmk_epoch);

/*
 * The graph has a node for each function of the epoch: a program may have many of both, and most functions are in few.
 */
struct recorded_epoch {
	struct encoding encoding;
	struct function_vec functions; /* by node */
	struct number_vec node_epochs; /* by node: the epoch whose record it is */
	struct number_vec edge_epochs; /* by edge of the graph */
	struct hashmap nodes;          /* function -> node */
	struct hashmap calls;          /* {site, callee}, as indices -> edge of the graph */
	bool is_ranked;                /* its numbers follow from ranks */
	struct error *why;             /* it cannot be used */
};

/* Where a record of an epoch is. */
struct epoch_record {
	uint32_t epoch;
	struct wmk_walk at;
};
VEC_DECLARE(epoch_record_vec, struct epoch_record);

/* Where a function's code is. */
struct place {
	const struct recorded_file *file; /* NULL: in none */
	uint64_t address;                 /* less that of the file's ELF header */
	const char *image;                /* recorded_image_name */
};

/* The lines of a site by the file's DWARF. */
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
	struct why_vec unnamed; /* files that were not found, or whose debug information was not: functions lack names */
	struct hashmap functions;         /* number -> index */
	struct hashmap sites;             /* number -> index - 1 */
	struct hashmap epoch_map;         /* epoch -> index in epochs */
	struct recorded_epoch_vec epochs; /* those that contexts needed */
	/* The records of dictionaries by rising epoch, in the order of the file; sorted when the first epoch is needed. */
	struct epoch_record_vec epoch_records[WMK_KIND_END];
	bool is_sorted;
	struct perf_map
		*made[2]; /* names of code that was made at run time: its jitdump, perf's map; NULL: there is none */
	bool is_made_known;
	uint64_t name_bytes; /* of names that were put together */
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

/* A part that the compiler has put elsewhere (name.cold, name.cold.1) has the function's name. NULL without memory. */
static const char *whole_function(struct arena *arena, const char *name)
{
	const char *cold = strstr(name, ".cold");

	if (!cold || (cold[5] && cold[5] != '.'))
		return name;
	return arena_printf(arena, "%.*s", (int)(cold - name), name);
}

bool recorded_is_own(const char *path)
{
	static const char prefix[] = "libwaymark-";
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, prefix, sizeof prefix - 1) == 0;
}

/* The place of a function of a file, and its name there if the record has none. */
static struct error *find_in_file(struct image *image, uint32_t index, const struct wmk_function *f,
				  const struct wmk_file_image *of)
{
	struct recorded *r = image->recorded;
	struct place *place = &r->places[index];
	const char *name;
	struct error *err =
		r->files && !recorded_is_own(of->path) ? recorded_files_get(r->files, of, &place->file) : NULL;

	place->address = f->address;
	if (err || !place->file || string_or_null(r->wmk, f->name))
		return err;
	if (!place->file->symbols)
		return note_unnamed(r, place->file->why);
	name = symbols_function(place->file->symbols, f->address);
	if (!name)
		name = symbols_around(place->file->symbols, f->address);
	if (name)
		name = whole_function(&image->meta.arena, name);
	image->meta.functions[index].name = name;
	return NULL;
}

/*
 * Texts that many records share make long names of short files. Honest ones have less than a record of text for each.
 */
static struct error *count_name(struct image *image, const char *const *parts, size_t count)
{
	struct recorded *r = image->recorded;

	for (size_t i = 0; i < count; i++)
		r->name_bytes += parts[i] ? strlen(parts[i]) : 0;
	if (r->name_bytes <= NAMES_MIN + r->wmk->len_bytes * NAMES_PER_BYTE)
		return NULL;
	return error_create(ERROR_FORMAT, "%s: the names of its functions are longer than the file allows: damaged",
			    r->wmk->name);
}

/* A method's name is its class's and its own. Without a name the place is all there is. */
static const char *full_name(struct arena *arena, const struct wmk_file *w, const struct wmk_function *f,
			     const struct wmk_file_image *image)
{
	const char *name = string_or_null(w, f->name), *owner = string_or_null(w, f->owner);

	if (!name)
		return arena_printf(arena, "%s+0x%" PRIx64,
				    image->record.kind == WMK_IMAGE_CODE ? "[code]" : text_base_name(image->path),
				    f->address);
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

static struct error *open_made(struct recorded *r, const char *dump)
{
	const struct wmk_header *h = &r->wmk->header;
	time_t began = (time_t)(h->start_realtime_ns / 1000000000);
	char path[64];
	struct error *err;

	if (r->is_made_known || h->flags & WMK_FLAG_MERGED)
		return NULL;
	r->is_made_known = true;
	snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", h->pid);
	err = perf_map_open(path, began, &r->made[1]);
	/* The process has mapped that file: it is not an earlier one's. */
	return err || *dump != '/' ? err : perf_map_open(dump, 0, &r->made[0]);
}

/* The name of a function that was made at run time, as the process told perf. */
static struct error *find_made(struct image *image, uint32_t index, const struct wmk_function *f,
			       const struct wmk_file_image *of)
{
	struct recorded *r = image->recorded;
	struct error *err = string_or_null(r->wmk, f->name) ? NULL : open_made(r, of->path);
	const char *name = NULL;

	if (err || string_or_null(r->wmk, f->name))
		return err;
	for (size_t i = 0; !name && i < sizeof r->made / sizeof *r->made; i++)
		name = r->made[i] ? perf_map_find(r->made[i], f->address) : NULL;
	image->meta.functions[index].name = name;
	return NULL;
}

/* *ret is NULL for a file whose path was not recorded. */
static struct error *name_image(struct arena *arena, const struct wmk_file_image *of, const char **ret)
{
	if (of->record.kind == WMK_IMAGE_LOADER)
		*ret = arena_printf(arena, "[class loader %s]", *of->path ? of->path : "boot");
	else if (of->record.kind == WMK_IMAGE_CODE && *of->path != '[') /* the path of what describes the code */
		*ret = "[code]";
	else if (*of->path)
		*ret = of->path;
	else
		return NULL;
	return *ret ? NULL : &error_no_memory;
}

const char *recorded_image_name(const struct image *image, uint32_t function)
{
	return image->recorded->places[function].image;
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
	else if (of->record.kind == WMK_IMAGE_CODE)
		err = find_made(image, index, f, of);
	if (!err)
		err = name_image(&image->meta.arena, of, &image->recorded->places[index].image);
	if (!err)
		err = count_name(image,
				 (const char *const[]){string_or_null(w, f->name), string_or_null(w, f->owner),
						       ret->name, string_or_null(w, f->descriptor), of->path},
				 5);
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

struct recorded_place recorded_place_of(const struct image *image, uint32_t site)
{
	const struct recorded *r = image->recorded;
	const struct place *place = &r->places[image->meta.sites[site].caller];
	int32_t position = (int32_t)r->positions[site]; /* below the function: in its cold part */

	return (struct recorded_place){place->file, place->address, place->address + (uint64_t)(int64_t)position};
}

const struct recorded_file *recorded_file_of(const struct image *image, uint32_t function)
{
	return image->recorded->places[function].file;
}

struct error *recorded_file_at(const struct image *image, uint32_t i, const struct recorded_file **ret,
			       bool *ret_is_there)
{
	const struct recorded *r = image->recorded;
	const struct wmk_file_image *of;

	*ret = NULL;
	*ret_is_there = i < r->wmk->image_count;
	if (!*ret_is_there || !r->files)
		return NULL;
	of = &r->wmk->images[i];
	return of->record.kind == WMK_IMAGE_BINARY ? recorded_files_get(r->files, of, ret) : NULL;
}

static struct error *find_lines(struct image *image, uint32_t site, struct known_lines *ret)
{
	const struct meta_site *s = &image->meta.sites[site];
	const struct place *place = &image->recorded->places[s->caller];
	const struct debug_line *lines;
	struct error *err;

	ret->is_known = true;
	if (!place->file || !place->file->symbols)
		return NULL;
	err = symbols_lines(place->file->symbols, recorded_place_of(image, site).address, &lines, &ret->count);
	if (!err && symbols_lost(place->file->symbols))
		err = note_unnamed(image->recorded, symbols_lost(place->file->symbols));
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
	function_vec_deinit(&e->functions);
	number_vec_deinit(&e->node_epochs);
	number_vec_deinit(&e->edge_epochs);
	hashmap_deinit(&e->nodes);
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
	for (size_t i = 0; i < WMK_KIND_END; i++)
		epoch_record_vec_deinit(&r->epoch_records[i]);
	why_vec_deinit(&r->unnamed);
	perf_map_close(r->made[0]);
	perf_map_close(r->made[1]);
	hashmap_deinit(&r->epoch_map);
	hashmap_deinit(&r->functions);
	hashmap_deinit(&r->sites);
	free(r);
}

static int compare_records(const void *a, const void *b)
{
	const struct epoch_record *x = a, *y = b;

	return compare_u64(x->epoch, y->epoch) ?: compare_u64(x->at.chunk, y->at.chunk) ?: compare_u64(x->at.off, y->at.off);
}

/* The epoch of the next record of that kind. */
static bool next_epoch_of(const struct wmk_file *w, enum wmk_kind kind, struct wmk_walk *walk, uint32_t *ret)
{
	struct wmk_epoch epoch;
	struct wmk_epoch_function function;
	struct wmk_epoch_edge edge;

	if (kind == WMK_EPOCHS && wmk_next_epoch(w, walk, &epoch))
		*ret = epoch.epoch;
	else if (kind == WMK_EPOCH_FUNCTIONS && wmk_next_epoch_function(w, walk, &function))
		*ret = function.epoch;
	else if (kind == WMK_EPOCH_EDGES && wmk_next_epoch_edge(w, walk, &edge))
		*ret = edge.epoch;
	else
		return false;
	return true;
}

/* One pass over each kind, whatever number of epochs there is. */
static struct error *sort_records(struct recorded *r)
{
	static const enum wmk_kind kinds[] = {WMK_EPOCHS, WMK_EPOCH_FUNCTIONS, WMK_EPOCH_EDGES};
	struct error *err = NULL;

	r->is_sorted = true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct epoch_record_vec *records = &r->epoch_records[kinds[i]];
		struct wmk_walk walk = {0};

		for (;;) {
			struct epoch_record record = {.at = walk};

			if (!next_epoch_of(r->wmk, kinds[i], &walk, &record.epoch))
				break;
			err = epoch_record_vec_append(records, record);
			if (err)
				return err;
		}
		if (records->count)
			qsort(records->items, records->count, sizeof *records->items, compare_records);
	}
	return NULL;
}

/* Those of one epoch. */
static const struct epoch_record *records_of(const struct recorded *r, enum wmk_kind kind, uint32_t epoch,
					     size_t *ret_count)
{
	const struct epoch_record_vec *records = &r->epoch_records[kind];
	size_t below = COUNT_BELOW(records->items, records->count, epoch, epoch);

	*ret_count = COUNT_UP_TO(records->items, records->count, epoch, epoch) - below;
	return records->count ? records->items + below : NULL;
}

static struct error *find_epoch_record(const struct recorded *r, uint32_t epoch, struct wmk_epoch *ret)
{
	size_t count;
	const struct epoch_record *records = records_of(r, WMK_EPOCHS, epoch, &count);
	struct wmk_walk walk;

	if (!count)
		return error_create(ERROR_NOT_FOUND, "how calls were encoded in it was not recorded");
	if (count > 1)
		return error_create(ERROR_FORMAT, "damaged: it began twice");
	walk = records->at;
	wmk_next_epoch(r->wmk, &walk, ret);
	return NULL;
}

static struct error *add_node(const struct image *image, struct recorded_epoch *e, const struct wmk_epoch_function *f)
{
	uint32_t function, number, node;
	struct error *err;

	if (!find_number(&image->recorded->functions, f->function, &function))
		return error_create(ERROR_FORMAT, "damaged: function %" PRIu32 " was not recorded", f->function);
	err = add_number(&e->nodes, function, &number);
	if (!err && number < e->functions.count)
		return e->node_epochs.items[number] != f->epoch
			       ? NULL /* a later dictionary has it */
			       : error_create(ERROR_FORMAT, "damaged: function %" PRIu32 " is in it twice",
					      f->function);
	if (!err && !f->contexts && !e->is_ranked)
		err = error_create(ERROR_FORMAT, "damaged: function %" PRIu32 " has no context", f->function);
	if (!err)
		err = function_vec_append(&e->functions, function) ?: number_vec_append(&e->node_epochs, f->epoch);
	if (!err)
		err = callgraph_add_node(&e->encoding.graph, f->flags & WMK_EPOCH_ROOT, &node);
	if (err)
		return err;
	e->encoding.graph.nodes[node] = (struct callgraph_node){.is_root = f->flags & WMK_EPOCH_ROOT,
								.has_dummy = f->flags & WMK_EPOCH_HAS_DUMMY,
								.restart = f->restart,
								.contexts = f->contexts};
	return NULL;
}

static struct error *add_node_at(const struct image *image, struct recorded_epoch *e, struct wmk_walk at)
{
	struct wmk_epoch_function f;

	return wmk_next_epoch_function(image->recorded->wmk, &at, &f) ? add_node(image, e, &f) : NULL;
}

static struct error *add_edge(const struct image *image, struct recorded_epoch *e, const struct wmk_epoch_edge *record)
{
	struct callgraph *g = &e->encoding.graph;
	uint32_t site = recorded_find_site(image, record->site), callee, caller_node, callee_node, number, edge;
	const struct meta_site *s = &image->meta.sites[site];
	struct error *err;

	if (!site || (s->kind != META_SITE_CALLEES && s->kind != META_SITE_INDIRECT))
		return error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " makes no such call", record->site);
	if (!find_number(&image->recorded->functions, record->callee, &callee) ||
	    !find_number(&e->nodes, callee, &callee_node) || !find_number(&e->nodes, s->caller, &caller_node))
		return error_create(ERROR_FORMAT,
				    "damaged: site %" PRIu32 " calls function %" PRIu32
				    ", and one of them is not in it",
				    record->site, record->callee);
	err = hashmap_add(&e->calls, &(struct key){{site, callee, 0}}, &number);
	if (!err && number < g->edge_count)
		return e->edge_epochs.items[number] != record->epoch
			       ? NULL
			       : error_create(ERROR_FORMAT,
					      "damaged: site %" PRIu32 " calls function %" PRIu32 " twice",
					      record->site, record->callee);
	if (!err)
		err = number_vec_append(&e->edge_epochs, record->epoch);
	if (!err)
		err = callgraph_add_edge(g, caller_node, callee_node, site, 0, &edge);
	if (err)
		return err;
	g->edges[edge].kind = (enum edge_kind)record->kind;
	g->edges[edge].addend = record->addend;
	return NULL;
}

static struct error *add_edge_at(const struct image *image, struct recorded_epoch *e, struct wmk_walk at)
{
	struct wmk_epoch_edge edge;

	return wmk_next_epoch_edge(image->recorded->wmk, &at, &edge) ? add_edge(image, e, &edge) : NULL;
}

static struct error *add_all(const struct image *image, uint32_t epoch, struct recorded_epoch *e, enum wmk_kind kind,
			     struct error *(*add)(const struct image *, struct recorded_epoch *, struct wmk_walk))
{
	size_t count;
	const struct epoch_record *records = records_of(image->recorded, kind, epoch, &count);
	struct error *err = NULL;

	for (size_t i = 0; i < count && !err; i++)
		err = add(image, e, records[i].at);
	return err;
}

static struct error *check_whole(const struct recorded *r, const struct wmk_epoch *record)
{
	size_t functions, edges;

	records_of(r, WMK_EPOCH_FUNCTIONS, record->epoch, &functions);
	records_of(r, WMK_EPOCH_EDGES, record->epoch, &edges);
	if (functions >= record->function_count && edges >= record->edge_count)
		return NULL;
	return error_create(ERROR_NOT_FOUND,
			    "%zu of %" PRIu32 " functions and %zu of %" PRIu32 " calls of it are there", functions,
			    record->function_count, edges, record->edge_count);
}

/* The epochs whose dictionaries are that of `epoch` together: a record of an earlier one counts where no later one is. */
static struct error *find_chain(const struct recorded *r, uint32_t epoch, struct chain_vec *chain)
{
	struct wmk_epoch record = {.base = epoch};
	struct error *err;

	do {
		epoch = record.base;
		err = find_epoch_record(r, epoch, &record) ?: chain_vec_append(chain, record);
		if (!err && (record.flags & WMK_EPOCH_RANKS) != (chain->items[0].flags & WMK_EPOCH_RANKS))
			err = error_create(ERROR_FORMAT, "damaged: one with ranks and one with numbers");
		if (!err && chain->count > r->epoch_records[WMK_EPOCHS].count)
			err = error_create(ERROR_FORMAT, "damaged: it changes itself");
		if (err && chain->count)
			err = error_context(err, "epoch %" PRIu32 ", which it changes", epoch);
	} while (!err && record.base);
	return err;
}

/* Adds what the chain of dictionaries has, the latest first. */
static struct error *add_chain(const struct image *image, const struct chain_vec *chain, struct recorded_epoch *e)
{
	struct error *err = NULL;

	e->is_ranked = chain->items[0].flags & WMK_EPOCH_RANKS;
	for (size_t i = 0; i < chain->count && !err; i++)
		err = add_all(image, chain->items[i].epoch, e, WMK_EPOCH_FUNCTIONS, add_node_at);
	for (size_t i = 0; i < chain->count && !err; i++)
		err = add_all(image, chain->items[i].epoch, e, WMK_EPOCH_EDGES, add_edge_at)
			      ?: check_whole(image->recorded, &chain->items[i]);
	return err;
}

static struct error *read_epoch(const struct image *image, uint32_t epoch, struct recorded_epoch *e)
{
	struct chain_vec chain = {0};
	struct error *err = (image->recorded->is_sorted ? NULL : sort_records(image->recorded))
				    ?: find_chain(image->recorded, epoch, &chain)
				    ?: add_chain(image, &chain, e);

	if (!err && e->is_ranked)
		err = callgraph_number_ranks(&e->encoding.graph);
	chain_vec_deinit(&chain);
	return err ? err : encoding_adopt(&e->encoding);
}

static struct error *new_epoch(struct image *image, uint32_t epoch)
{
	struct recorded_epoch *e = calloc(1, sizeof *e);
	struct error *err = e ? recorded_epoch_vec_append(&image->recorded->epochs, e) : &error_no_memory;

	if (err) {
		free(e);
		return err;
	}
	callgraph_init(&e->encoding.graph, NULL);
	e->why = read_epoch(image, epoch, e);
	if (e->why)
		e->why = error_context(e->why, "%s: epoch %" PRIu32, image->meta.unit, epoch);
	return NULL;
}

static struct error *get_epoch(struct image *image, uint32_t epoch, struct recorded_epoch **ret)
{
	struct recorded *r = image->recorded;
	struct recorded_epoch *e;
	uint32_t number;
	struct error *err = add_number(&r->epoch_map, epoch, &number);

	if (!err && number == r->epochs.count)
		err = new_epoch(image, epoch);
	if (err)
		return err;
	e = r->epochs.items[number];
	if (e->why)
		return error_create(e->why->code, "%s", e->why->message);
	*ret = e;
	return NULL;
}

struct error *recorded_decode(struct image *image, uint32_t epoch, uint32_t function, uint64_t id,
			      struct context_piece *ret)
{
	struct recorded_epoch *e;
	uint32_t node, start;
	struct error *err = get_epoch(image, epoch, &e);

	if (err)
		return err;
	if (!find_number(&e->nodes, function, &node)) /* no id of it is any */
		return error_create(ERROR_FORMAT, "%s: epoch %" PRIu32 ": %s is not in it", image->meta.unit, epoch,
				    image->meta.functions[function].link_name);
	err = encoding_decode(&e->encoding, node, id, ret, &start);
	if (err && err->code == ERROR_FORMAT) { /* the graph knows its nodes only */
		error_destroy(err);
		err = error_create(ERROR_FORMAT, "%s: epoch %" PRIu32 ": %s has no context %" PRIu64, image->meta.unit,
				   epoch, image->meta.functions[function].link_name, id);
	}
	if (err)
		return err;
	ret->start = e->functions.items[start];
	return NULL;
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
