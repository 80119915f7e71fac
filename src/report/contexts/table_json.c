/* table_json.c - a table as one JSON object; docs/format.md describes every member. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/contexts/renderer.h"

struct error *render_table_json(const struct view *v, const struct table *t, FILE *out)
{
	const struct metric *m = &v->profile->metrics.items[v->metric];

	fputs("{\n  \"format\": \"waymark-table\",\n  \"version\": 1,\n  \"producer\": ", out);
	json_print_string(out, v->producer);
	json_print_member(out, ",\n  ", "by", t->kind->by.name);
	json_print_member(out, ",\n  ", "metric", m->name);
	json_print_member(out, ",\n  ", "unit", metric_unit_name(m->unit));
	fprintf(out, ",\n  \"total\": %" PRIu64 ",\n  \"all_rows\": %zu,\n  \"rows\": [", m->total, t->all_rows);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct frame *f = t->rows[i].frame;

		json_print_member(out, i ? ",\n    {" : "\n    {", "name", t->rows[i].name);
		if (t->kind->key == KEY_LINE) {
			json_print_member(out, ", ", "file", f->file);
			fprintf(out, ", \"line\": %" PRIu32, f->line);
		}
		fprintf(out, ", \"self\": %" PRIu64 ", \"total\": %" PRIu64 "}", t->rows[i].self, t->rows[i].total);
	}
	fputs("\n  ]\n}\n", out);
	return NULL;
}
