/* import_metric.c - where the numbers of a file of another tool go. */
#include <string.h>

#include "model/imports/import.h"

struct error *import_metric(struct profile *p, const char *name, enum metric_unit unit, uint32_t *ret)
{
	const struct metric new = {.name = name, .unit = unit};

	for (uint32_t i = 0; i < p->metrics.count; i++) {
		const struct metric *m = &p->metrics.items[i];

		if (m->unit == unit && !m->is_maximum && strcmp(m->name, name) == 0) {
			*ret = i;
			return NULL;
		}
	}
	return profile_add_metrics(p, &new, 1, ret);
}
