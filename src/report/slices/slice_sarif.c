/*
 * slice_sarif.c - a slice as SARIF 2.1.0 (OASIS, 2020; section 3.36 has code flows): one result at the criterion. Its code flows lead to the
 * criterion: the shortest chain, and all lines of the slice in the order of the source. Forward they lead from it.
 */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/sarif.h"
#include "report/slices/slice_render.h"

static struct error *print_step(const struct slice_report *r, const struct slice_link *link, uint32_t of,
				const char *importance, FILE *out)
{
	const struct slice_line *line = &r->lines->items[link->line];
	struct error *err;

	fputs("\n       {\"location\": {", out);
	sarif_print_place(out, line->file, line->line);
	fputs(", \"message\": {\"text\": ", out);
	err = slice_reason_json(r, link->reason, link->line, of, out);
	fprintf(out, "}}, \"importance\": \"%s\"}", importance);
	return err;
}

static struct error *print_chain(const struct slice_report *r, FILE *out)
{
	const struct slice_link_vec *links = &r->chain->links;
	struct error *err = NULL;

	fputs("\n     {\"message\": {\"text\": \"the shortest chain\"}, \"threadFlows\": [{\"locations\": [", out);
	for (size_t i = links->count; i-- > 0 && !err;) {
		err = print_step(r, &links->items[i], i ? links->items[i - 1].line : SLICE_NO_LINE, "essential", out);
		if (i)
			putc(',', out);
	}
	fputs("]}]},", out);
	return err;
}

static struct error *print_all(const struct slice_report *r, FILE *out)
{
	const char *before = "";
	struct error *err = NULL;

	fputs("\n     {\"message\": {\"text\": \"the slice\"}, \"threadFlows\": [{\"locations\": [", out);
	for (uint32_t i = 0; i < r->lines->count && !err; i++) {
		const struct slice_line *line = &r->lines->items[i];

		if (!line->is_in)
			continue;
		fputs(before, out);
		before = ",";
		err = print_step(r, &(struct slice_link){i, line->reason}, line->of,
				 line->reason == SLICE_CRITERION ? "essential" : "important", out);
	}
	fputs("]}]}", out);
	return err;
}

/* The criterion's lines; of a crash in code without a line there are none. */
static void print_criteria(const struct slice_report *r, FILE *out)
{
	const char *before = "";

	for (uint32_t i = 0; i < r->lines->count; i++) {
		if (r->lines->items[i].reason != SLICE_CRITERION)
			continue;
		fprintf(out, "%s{", before);
		sarif_print_place(out, r->lines->items[i].file, r->lines->items[i].line);
		putc('}', out);
		before = ", ";
	}
}

/* Each write that may have left its object is a result of its own: all that there is evidence of, or those in front of what the slice reads. */
static struct error *print_overrun(const struct slice_report *r, const struct slice_overrun *x, FILE *out)
{
	const struct slice_overruns *o = r->overruns;
	struct slice_quote quote;
	struct error *err = slice_quote_begin(&quote);

	if (err)
		return err;
	slice_overrun_print(r, x, quote.stream);
	for (size_t i = 0; i < o->evidence.count; i++) {
		fputs(i ? "; " : ": ", quote.stream);
		slice_evidence_print(o, i, quote.stream);
	}
	fputs(",\n    {\"ruleId\": \"overrun\", \"kind\": \"review\", \"level\": \"none\", \"message\": {\"text\": ",
	      out);
	err = slice_quote_end(&quote, out);
	fputs("},\n     \"locations\": [{", out);
	sarif_print_place(out, r->lines->items[x->line].file, r->lines->items[x->line].line);
	fprintf(out, "}], \"rank\": %s}", x->rank == SLICE_OVERRUN_EVIDENT ? "90.0" : "10.0");
	return err;
}

static struct error *print_overruns(const struct slice_report *r, FILE *out)
{
	uint32_t count = slice_overruns_shown(r->overruns);
	struct error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i++)
		err = print_overrun(r, &r->overruns->items.items[i], out);
	return err;
}

struct error *slice_render_sarif(const struct slice_report *r, FILE *out)
{
	const struct sarif_rule rules[] = {
		{r->is_forward ? "forward-slice" : "slice",
		 r->is_forward ? "What a change can reach" : "What can have decided a line"},
		{"overrun", "A write that may have left its object: a suspicion, no dependence"},
	};
	struct error *err = NULL;

	sarif_print_start(out, rules, slice_overruns_shown(r->overruns) ? 2 : 1);
	fprintf(out, "{\"ruleId\": \"%s\", \"kind\": \"informational\", \"level\": \"none\", \"message\": {\"text\": ",
		rules[0].id);
	json_print_string(out, r->criterion);
	fputs("},\n    \"locations\": [", out);
	print_criteria(r, out);
	fputs("],\n    \"codeFlows\": [", out);
	if (r->chain && r->chain->links.count)
		err = print_chain(r, out);
	if (!err)
		err = print_all(r, out);
	fputs("]}", out);
	if (!err)
		err = print_overruns(r, out);
	fputs("]}]}\n", out);
	return err;
}
