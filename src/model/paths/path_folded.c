/* path_folded.c - joins what the functions that ran hide (hidden.h), and asks it of functions and lines. */
#include "model/paths/path_folded.h"

static struct key key_of_name(uint32_t image, const char *name)
{
	struct key key = key_of_text(name);

	key.words[1] = image;
	return key;
}

/* Functions of one name and image: a chain. */
static struct error *add_names(struct path_profile *p)
{
	struct path_folded *d = &p->folded;
	const uint32_t count = (uint32_t)p->functions.count;
	struct error *err = NULL;

	d->first_of_name = arena_calloc(&p->arena, (size_t)count + 1, sizeof *d->first_of_name);
	d->next_of_name = arena_calloc(&p->arena, (size_t)count + 1, sizeof *d->next_of_name);
	if (!d->first_of_name || !d->next_of_name)
		return &error_no_memory;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct path_function *f = &p->functions.items[i];
		const uint32_t before = d->names.count;
		struct key key;
		uint32_t number;

		if (!f->meta)
			continue;
		key = key_of_name(f->image, f->meta->name);
		err = hashmap_add(&d->names, &key, &number);
		if (err)
			break;
		d->next_of_name[i] = number < before ? d->first_of_name[number] : UINT32_MAX;
		d->first_of_name[number] = i;
	}
	return err;
}

static uint32_t first_of_name(const struct path_profile *p, uint32_t image, const char *name)
{
	const struct key key = key_of_name(image, name);
	uint32_t number;

	return hashmap_find(&p->folded.names, &key, &number) ? p->folded.first_of_name[number] : UINT32_MAX;
}

static bool has_twin(const struct path_profile *p, const struct path_function *f)
{
	for (uint32_t i = first_of_name(p, f->image, f->meta->name); i != UINT32_MAX; i = p->folded.next_of_name[i]) {
		const struct path_function *other = &p->functions.items[i];

		if (other != f && other->meta->is_optimized && path_has_run(other) &&
		    hidden_are_twins(other->meta, f->meta))
			return true;
	}
	return false;
}

struct error *path_folded_find(struct path_profile *p)
{
	struct error *err = add_names(p);

	for (size_t i = 0; i < p->functions.count && !err; i++)
		if (p->functions.items[i].meta)
			err = hidden_add(&p->folded.hidden, p->functions.items[i].meta,
					 path_has_run(&p->functions.items[i]));
	for (size_t i = 0; i < p->functions.count && !err; i++) {
		struct path_function *f = &p->functions.items[i];

		f->is_part = f->meta && (hidden_has(&p->folded.hidden, f->meta->name) || has_twin(p, f));
	}
	return err;
}

/* A body of the line's function ran, and the line is not there: it was folded. */
static bool is_gone(const struct path_profile *p, uint32_t image, const char *function,
		    const struct pathmeta_line *line)
{
	for (uint32_t i = first_of_name(p, image, function); i != UINT32_MAX; i = p->folded.next_of_name[i]) {
		const struct path_function *f = &p->functions.items[i];

		if (f->meta->is_optimized && path_has_run(f) && !hidden_has_line(f->meta, line))
			return true;
	}
	return false;
}

bool path_folded_line(const struct path_profile *p, const struct path_function *f, uint32_t line)
{
	const struct pathmeta_line *l = &f->meta->lines[line];
	const char *function = l->function ? l->function : f->meta->name;

	return (path_has_run(f) && !pathmeta_is_whole(f->meta, line)) || hidden_has(&p->folded.hidden, function) ||
	       is_gone(p, f->image, function, l);
}

bool path_folded_way(const struct path_profile *p, const struct path_function *f, uint32_t line)
{
	return f->meta->is_optimized && (path_has_run(f) || path_folded_line(p, f, line));
}
