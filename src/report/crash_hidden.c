/* crash_hidden.c - joins what the bodies that may have run hide. */
#include <string.h>

#include "base/text.h"
#include "report/crash_hidden.h"

static struct error *add(struct crash_hidden *h, const char *name)
{
	struct key key = key_of_text(name);
	uint32_t number;

	return keymap_add(&h->names, &key, &number);
}

static struct error *add_function(const struct crash *c, uint32_t image, uint32_t f, bool may_have_run,
				  struct crash_hidden *h)
{
	const struct tracemeta_function *meta = &c->images[image].trace.meta.functions[f];
	struct error *err = NULL;

	if (meta->is_unseen)
		err = add(h, c->images[image].trace.flows[f]->name);
	for (uint32_t i = 0; i < meta->hidden_count && may_have_run && !err; i++)
		err = add(h, meta->hidden[i]);
	return err;
}

struct error *crash_hidden_find(const struct crash *c, const uint8_t *states, struct crash_hidden *ret)
{
	struct crash_hidden h = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		for (uint32_t id = c->first_function[i]; id < c->first_function[i + 1] && !err; id++)
			err = add_function(c, i, id - c->first_function[i], states[id] != ACTIVITY_NO, &h);
	if (err)
		crash_hidden_deinit(&h);
	else
		*ret = h;
	return err;
}

void crash_hidden_deinit(struct crash_hidden *h)
{
	keymap_deinit(&h->names);
}

bool crash_hidden_has(const struct crash_hidden *h, const char *name)
{
	struct key key = key_of_text(name);
	uint32_t number;

	return keymap_find(&h->names, &key, &number);
}

static bool has_line(const struct pathmeta_function *flow, const struct pathmeta_line *line)
{
	for (uint32_t i = 0; i < flow->first_line[flow->cfg.node_count]; i++)
		if (flow->lines[i].line == line->line && text_equal(flow->lines[i].file, line->file))
			return true;
	return false;
}

bool crash_hidden_line(const struct crash *c, const uint8_t *states, uint32_t image, const char *function,
		       const struct pathmeta_line *line)
{
	const struct crash_image *in = &c->images[image];
	struct key key = key_of_text(function);
	uint32_t number;

	if (!keymap_find(&in->names, &key, &number))
		return false;
	for (uint32_t f = in->first_of_name[number]; f != UINT32_MAX; f = in->next_of_name[f])
		if (states[c->first_function[image] + f] != ACTIVITY_NO && !has_line(in->trace.flows[f], line))
			return true;
	return false;
}
