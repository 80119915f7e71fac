/* crash_hidden.c - asks of each function whether it may have run. */
#include "model/crash/crash_hidden.h"

struct error *crash_hidden_find(const struct crash *c, const uint8_t *states, struct hidden *ret)
{
	struct hidden h = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->stopped->module_count; i++)
		for (uint32_t id = c->first_function[i]; id < c->first_function[i + 1] && !err; id++)
			err = hidden_add(&h, c->images[i].trace.flows[id - c->first_function[i]],
					 states[id] != ACTIVITY_NO);
	if (err)
		hidden_deinit(&h);
	else
		*ret = h;
	return err;
}

bool crash_hidden_line(const struct crash *c, const uint8_t *states, uint32_t image, const char *function,
		       const struct pathmeta_line *line)
{
	const struct crash_image *in = &c->images[image];
	struct key key = key_of_text(function);
	uint32_t number;

	if (!hashmap_find(&in->names, &key, &number))
		return false;
	for (uint32_t f = in->first_of_name[number]; f != UINT32_MAX; f = in->next_of_name[f])
		if (states[c->first_function[image] + f] != ACTIVITY_NO && !hidden_has_line(in->trace.flows[f], line))
			return true;
	return false;
}
