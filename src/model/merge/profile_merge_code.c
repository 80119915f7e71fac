/*
 * profile_merge_code.c - copies recorded code into a merged file. Functions, sites and epochs get new numbers. Those of two files
 * are joined only where neither has encodings, since each process has its own. Functions, sites and lines that refer to nothing are left out, so
 * that a damaged file does not damage the merged one; in a dictionary they are kept, so that its epoch stays damaged.
 */
#include "model/merge/profile_merge_model.h"

void merge_code_deinit(struct merge_code *code)
{
	hashmap_deinit(&code->text_numbers);
	merge_count_vec_deinit(&code->text_indices);
	hashmap_deinit(&code->text_map);
	hashmap_deinit(&code->function_map);
	merge_count_vec_deinit(&code->function_indices);
	hashmap_deinit(&code->site_map);
	merge_count_vec_deinit(&code->site_numbers);
	merge_name_vec_deinit(&code->texts);
	merge_code_function_vec_deinit(&code->functions);
	merge_code_site_vec_deinit(&code->sites);
	merge_code_line_vec_deinit(&code->lines);
	merge_epoch_vec_deinit(&code->epochs);
	merge_epoch_function_vec_deinit(&code->epoch_functions);
	merge_epoch_edge_vec_deinit(&code->epoch_edges);
}

struct error *merge_new_epoch(struct adding *a, uint32_t epoch, uint32_t *ret)
{
	const struct key key = {{a->m->file_count, epoch, 0}};
	uint32_t number;
	struct error *err;

	if ((epoch == WM_EPOCH_COMPILED && !a->has_code) || epoch == WM_EPOCH_WALKED) {
		*ret = epoch;
		return NULL;
	}
	err = hashmap_add(&a->m->epochs, &key, &number);
	if (!err)
		*ret = number + 1;
	return err;
}

static bool find(const struct hashmap *map, const struct merge_count_vec *values, uint32_t number, uint32_t *ret)
{
	uint32_t index;

	if (!hashmap_find(map, &(struct key){{number, 0, 0}}, &index))
		return false;
	*ret = (uint32_t)values->items[index];
	return true;
}

static struct error *add(struct hashmap *map, struct merge_count_vec *values, uint32_t number, uint32_t value)
{
	uint32_t index;
	struct error *err = hashmap_add(map, &(struct key){{number, 0, 0}}, &index);

	return err ? err : merge_count_vec_append(values, value);
}

bool merge_new_code_site(const struct adding *a, uint32_t site, uint32_t *ret)
{
	return find(&a->code_sites, &a->new_sites, site, ret);
}

/* UINT32_MAX, which is no function's number, when there is none. */
static uint32_t new_function(const struct adding *a, uint32_t function)
{
	uint32_t number;

	return find(&a->code_functions, &a->new_functions, function, &number) ? number : UINT32_MAX;
}

static struct error *add_content(struct adding *a, const char *text, uint32_t *ret)
{
	const struct key key = key_of_text_safe(text, 0);
	struct merge_code *code = &a->m->code;
	const char *copy;
	struct error *err = hashmap_add(&code->text_map, &key, ret);

	if (err || *ret < code->texts.count)
		return err;
	copy = arena_strdup(&a->m->arena, text);
	return copy ? merge_name_vec_append(&code->texts, copy) : &error_no_memory;
}

struct error *merge_add_text(struct adding *a, uint32_t string, uint32_t *ret)
{
	const struct key key = {{a->m->file_count, string, 0}};
	const char *text = string == WMK_NO_STRING ? NULL : wmk_find_string(a->w, string);
	struct merge_code *code = &a->m->code;
	uint32_t number, index;
	struct error *err;

	*ret = WMK_NO_STRING;
	if (!text)
		return NULL;
	err = hashmap_add(&code->text_numbers, &key, &number);
	if (!err && number == code->text_indices.count)
		err = add_content(a, text, &index) ?: merge_count_vec_append(&code->text_indices, index);
	if (!err)
		*ret = (uint32_t)code->text_indices.items[number];
	return err;
}

static struct error *add_text(struct adding *a, uint32_t *string)
{
	return merge_add_text(a, *string, string);
}

/* The number that a key stands for; `next` if it is new. */
static struct error *join(struct hashmap *map, struct merge_count_vec *numbers, const struct key *key, uint32_t next,
			  uint32_t *ret)
{
	uint32_t index;
	struct error *err = hashmap_add(map, key, &index);

	if (!err && index == numbers->count)
		err = merge_count_vec_append(numbers, next);
	if (!err)
		*ret = (uint32_t)numbers->items[index];
	return err;
}

/* Its index in the functions of all files; it is the next one if it is none of another file. */
static struct error *index_of_function(struct adding *a, const struct wmk_function *f, uint32_t *ret)
{
	struct merge_code *code = &a->m->code;
	const struct key key = {
		{(uint64_t)f->image << 32 | f->name, f->address, (uint64_t)f->owner << 32 | f->descriptor}};

	*ret = (uint32_t)code->functions.count;
	return a->has_code ? NULL : join(&code->function_map, &code->function_indices, &key, *ret, ret);
}

static struct error *number_of_site(struct adding *a, const struct wmk_site *s, uint32_t *ret)
{
	struct merge_code *code = &a->m->code;
	const struct key key = {{(uint64_t)s->function << 32 | s->kind, (uint64_t)s->position << 32 | s->name,
				 (uint64_t)s->line << 32 | s->flags}};

	*ret = a->m->next_site;
	return a->has_code ? NULL : join(&code->site_map, &code->site_numbers, &key, *ret, ret);
}

static struct error *add_function(struct adding *a, uint32_t number, struct wmk_function f)
{
	const struct wmk_file_image *image = wmk_image_by_record(a->w, f.image);
	struct merge_code *code = &a->m->code;
	uint32_t index;
	struct error *err;

	if (!image || image->record.kind == WMK_IMAGE_SECTION)
		return NULL;
	f.image = a->images[f.image];
	err = add_text(a, &f.name) ?:
	      add_text(a, &f.owner) ?:
	      add_text(a, &f.descriptor) ?:
	      add_text(a, &f.file) ?:
	      index_of_function(a, &f, &index) ?:
	      add(&a->code_functions, &a->new_functions, number, index);
	return err || index < code->functions.count ? err : merge_code_function_vec_append(&code->functions, f);
}

static struct error *add_site(struct adding *a, uint32_t number, struct wmk_site s)
{
	struct merge *m = a->m;
	uint32_t site = 0;
	struct error *err = add_text(a, &s.name);

	s.function = new_function(a, s.function);
	if (err || s.function == UINT32_MAX || (s.kind == WMK_SITE_FOREIGN && s.name == WMK_NO_STRING))
		return err;
	if (m->next_site == MERGE_SITE_UNKNOWN)
		return error_create(ERROR_OVERFLOW, "these files have too many call sites to be in one: merge fewer");
	err = number_of_site(a, &s, &site) ?: add(&a->code_sites, &a->new_sites, number, site);
	if (err || site < m->next_site)
		return err;
	return merge_code_site_vec_append(&m->code.sites, (struct merge_site){m->next_site++, s});
}

static struct error *add_lines(struct adding *a)
{
	struct wmk_walk walk = {0};
	struct wmk_line line;
	struct error *err = NULL;

	while (!err && wmk_next_line(a->w, &walk, &line)) {
		line.function = new_function(a, line.function);
		if (line.function != UINT32_MAX && line.function >= a->first_function)
			err = merge_code_line_vec_append(&a->m->code.lines, line);
	}
	return err;
}

static struct error *add_epochs(struct adding *a)
{
	struct wmk_walk epochs = {0}, functions = {0}, edges = {0};
	struct merge_code *code = &a->m->code;
	struct wmk_epoch epoch;
	struct wmk_epoch_function function;
	struct wmk_epoch_edge edge;
	struct error *err = NULL;

	while (!err && wmk_next_epoch(a->w, &epochs, &epoch)) {
		epoch.start_ns = 0; /* clocks of many machines */
		err = merge_new_epoch(a, epoch.epoch, &epoch.epoch);
		if (!err && epoch.base)
			err = merge_new_epoch(a, epoch.base, &epoch.base);
		if (!err)
			err = merge_epoch_vec_append(&code->epochs, epoch);
	}
	while (!err && wmk_next_epoch_function(a->w, &functions, &function)) {
		function.function = new_function(a, function.function);
		err = merge_new_epoch(a, function.epoch, &function.epoch);
		if (!err)
			err = merge_epoch_function_vec_append(&code->epoch_functions, function);
	}
	while (!err && wmk_next_epoch_edge(a->w, &edges, &edge)) {
		if (!merge_new_code_site(a, edge.site, &edge.site))
			edge.site = UINT32_MAX;
		edge.callee = new_function(a, edge.callee);
		err = merge_new_epoch(a, edge.epoch, &edge.epoch);
		if (!err)
			err = merge_epoch_edge_vec_append(&code->epoch_edges, edge);
	}
	return err;
}

/* Of path counts only those of residual paths have contexts. */
static bool has_contexts(const struct wmk_file *w)
{
	struct wmk_walk walk = {0};
	struct wmk_path_count c;
	uint64_t number;

	if (w->whole_count[WMK_EVENTS] || w->whole_count[WMK_SUMS] || w->whole_count[WMK_HEAP] ||
	    w->whole_count[WMK_HEAP_SUMS])
		return true;
	while (wmk_next_path_count(w, &walk, &c, &number))
		if ((c.flags & WMK_PATHS_RESIDUAL) && c.prefix != WM_PREFIX_NONE)
			return true;
	return false;
}

struct error *merge_add_code(struct adding *a)
{
	struct wmk_walk functions = {0}, sites = {0};
	struct wmk_function f;
	struct wmk_site s;
	uint32_t number;
	struct error *err = NULL;

	a->has_code = a->w->place_count[WMK_SITES] != 0 &&
		      (a->w->place_count[WMK_EPOCHS] || a->w->place_count[WMK_EPOCH_FUNCTIONS] ||
		       a->w->place_count[WMK_EPOCH_EDGES]);
	if (!a->w->place_count[WMK_SITES] || !has_contexts(a->w))
		return NULL;
	a->first_function = (uint32_t)a->m->code.functions.count;
	while (!err && wmk_next_function(a->w, &functions, &number, &f))
		err = add_function(a, number, f);
	while (!err && wmk_next_site(a->w, &sites, &number, &s))
		err = add_site(a, number, s);
	if (!err)
		err = add_lines(a);
	return err ? err : add_epochs(a);
}
