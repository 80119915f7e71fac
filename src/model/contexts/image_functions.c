/* image_functions.c - takes names, sizes and the lines of calls from metadata and symbols. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/order.h"
#include "model/contexts/image_functions.h"
#include "model/contexts/recorded_graph.h"

static struct error *add_function(struct profile *p, const char *link_name, uint64_t size_bytes, uint64_t shape)
{
	struct profile_function f = {.size_bytes = size_bytes, .shape = shape};
	struct error *err = profile_copy_string(p, link_name, &f.link_name);

	return err ?: profile_function_vec_append(&p->functions, f);
}

/* *ret: nobody has added the functions of that image. */
static struct error *is_new(struct profile *p, const void *image, bool *ret)
{
	uint32_t count = p->function_images.count, number;
	struct error *err = hashmap_add(&p->function_images, &(struct key){{(uintptr_t)image, 0, 0}}, &number);

	*ret = !err && number == count;
	return err;
}

/* A line of a function that has a call, or something inlined that has one. */
struct call_line {
	uint32_t function;
	uint32_t line;
};

static int compare_calls(const void *a, const void *b)
{
	const struct call_line *x = a, *y = b;

	return compare_u64(x->function, y->function) ?: compare_u64(x->line, y->line);
}

/* By function and line; *ret_count of them. The caller frees the list. */
static struct error *list_calls(const struct meta *m, struct call_line **ret, size_t *ret_count)
{
	struct call_line *lines = calloc((size_t)m->site_count + 1, sizeof *lines);
	size_t count = 0;

	if (!lines)
		return &error_no_memory;
	for (uint32_t i = 1; i < m->site_count; i++) {
		uint32_t at = m->sites[i].location;

		while (at && m->locations[at - 1].inlined_at)
			at = m->locations[at - 1].inlined_at;
		if (at)
			lines[count++] = (struct call_line){m->sites[i].caller, m->locations[at - 1].line};
	}
	qsort(lines, count, sizeof *lines, compare_calls);
	*ret = lines;
	*ret_count = count;
	return NULL;
}

/* A hash of the lines, each once, from that of the function on. */
static uint64_t shape_of(const struct meta_function *f, const struct call_line *lines, size_t count)
{
	uint64_t hash = HASH_START;

	if (!f->line || !count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t line = lines[i].line - f->line;

		if (!i || lines[i].line != lines[i - 1].line)
			hash = hash_bytes(hash, &line, sizeof line);
	}
	return hash;
}

static struct error *add_instrumented(struct profile *p, const struct meta *m)
{
	struct call_line *lines;
	size_t count, next = 0;
	struct error *err = list_calls(m, &lines, &count);

	if (err)
		return err;
	for (uint32_t i = 0; i < m->function_count && !err; i++) {
		size_t first = next;

		while (next < count && lines[next].function == i)
			next++;
		err = add_function(p, m->functions[i].link_name, 0,
				   shape_of(&m->functions[i], lines + first, next - first));
	}
	free(lines);
	for (uint32_t i = 0; i < m->location_count && !err; i++)
		if (m->locations[i].inlined_at && m->locations[i].function)
			err = add_function(p, m->locations[i].function, 0, 0);
	return err;
}

static struct error *add_symbols(struct profile *p, const struct symbols *s)
{
	const char *name;
	uint64_t size;
	struct error *err = NULL;

	for (size_t i = 0; !err && (name = symbols_function_at(s, i, &size)); i++)
		err = add_function(p, name, size, 0);
	return err;
}

struct error *image_functions_add(struct profile *p, const struct process *process)
{
	uint32_t recorded_count = process->recorded ? process->recorded->meta.function_count : 0;
	bool is_wanted;
	struct error *err = NULL;

	for (uint32_t i = 0; i < process->image_count && !err; i++) {
		const struct image *image = process->images[i].image;

		err = image ? is_new(p, image, &is_wanted) : NULL;
		if (!err && image && is_wanted)
			err = add_instrumented(p, &image->meta);
	}
	for (uint32_t i = 0; i < recorded_count && !err; i++) {
		const struct recorded_file *file = recorded_file_of(process->recorded, i);

		if (!file || !file->symbols)
			continue;
		err = is_new(p, file, &is_wanted);
		if (!err && is_wanted)
			err = add_symbols(p, file->symbols);
	}
	return err;
}
