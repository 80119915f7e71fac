/* hidden.c - joins what functions that may have run hide. */
#include "model/paths/hidden.h"

#include "base/text.h"

static struct error *add(struct hidden *h, const char *name)
{
	struct key key = key_of_text(name);
	uint32_t number;

	return hashmap_add(&h->names, &key, &number);
}

struct error *hidden_add(struct hidden *h, const struct pathmeta_function *f, bool may_have_run)
{
	struct error *err = f->is_unseen ? add(h, f->name) : NULL;

	for (uint32_t i = 0; i < f->hidden_count && may_have_run && !err; i++)
		err = add(h, f->hidden[i]);
	return err;
}

void hidden_deinit(struct hidden *h)
{
	hashmap_deinit(&h->names);
}

bool hidden_has(const struct hidden *h, const char *name)
{
	struct key key = key_of_text(name);
	uint32_t number;

	return hashmap_find(&h->names, &key, &number);
}

bool hidden_has_line(const struct pathmeta_function *f, const struct pathmeta_line *line)
{
	for (uint32_t i = 0; i < f->first_line[f->cfg.node_count]; i++)
		if (f->lines[i].line == line->line && text_equal(f->lines[i].file, line->file))
			return true;
	return false;
}

bool hidden_are_twins(const struct pathmeta_function *f, const struct pathmeta_function *g)
{
	return f->line == g->line && text_equal(f->file, g->file) && text_equal(f->name, g->name);
}
