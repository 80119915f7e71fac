/*
 * graph.c - `waymark graph`: what the encoding of a program is like, in the terms of Table 1 of the paper (ICSE'10).
 */
#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/search_options.h"
#include "base/json_writer.h"
#include "base/plain_text.h"

struct request {
	struct object_search search;
	const char *output;
	const struct word *format; /* of formats */
};

enum {
	FORMAT_TEXT,
	FORMAT_JSON,
};

static const struct word formats[] = {[FORMAT_TEXT] = {"text", NULL}, [FORMAT_JSON] = {"json", NULL}, {0}};
static const struct word_table format_words = {formats, sizeof *formats};

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: %s (text)",
	 OPTION_ROW(struct request, format, &format_words)},
	OPTIONS_OF(search_options, struct request, search),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

struct summary {
	const char *path;
	char build_id[BUILD_ID_TEXT_MAX];
	uint64_t kinds[META_SITE_KINDS];
	uint64_t tail_calls;
	uint64_t roots;
	uint64_t zero_edges; /* encoded edges with addend 0 */
	uint64_t placed;     /* functions with META_FUNCTION_PLACED */
	uint32_t functions;
	struct meta_stats stats;
};

/* One number of the summary, for both formats. */
struct row {
	const char *key;
	const char *label;
	uint64_t value;
	bool may_overflow; /* UINT64_MAX means that it did */
};

enum {
	ROWS_MAX = 24,
};

static size_t make_rows(const struct summary *s, struct row rows[ROWS_MAX])
{
	const uint64_t *k = s->kinds;
	const struct meta_stats *stats = &s->stats;
	const struct row table[] = {
		{"functions_total", "functions defined", stats->functions_total, false},
		{"functions", "functions in the graph", s->functions, false},
		{"roots", "functions that may be entered from anywhere", s->roots, false},
		{"edges", "edges", k[META_SITE_CALL] + k[META_SITE_BACK] + k[META_SITE_CUT] + k[META_SITE_SELF_CALL],
		 false},
		{"back_edges", "back edges (pushed, or in the history)", k[META_SITE_BACK] + k[META_SITE_SELF_CALL],
		 false},
		{"self_calls", "of these, calls of functions by themselves that are in the history",
		 k[META_SITE_SELF_CALL], false},
		{"cut_edges", "edges cut to keep numbers in range (pushed)", k[META_SITE_CUT], false},
		{"cut_nodes", "cut nodes", stats->cut_nodes, false},
		{"zero_edges", "edges with addend 0 (no code)", s->zero_edges, false},
		{"placed_functions", "functions where a context starts at a known place of the stack (hybrid encoding)",
		 s->placed, false},
		{"indirect_sites", "indirect call sites (pushed)", k[META_SITE_INDIRECT], false},
		{"foreign_sites", "call sites of foreign functions (pushed if they call back)", k[META_SITE_FOREIGN],
		 false},
		{"asm_sites", "inline assembly that calls (pushed)", k[META_SITE_ASM], false},
		{"bound_functions", "functions whose calls in the library check which definition is bound",
		 k[META_SITE_BOUND], false},
		{"tail_calls", "tail calls", s->tail_calls, false},
		{"capture_sites", "captures and events", k[META_SITE_CAPTURE], false},
		{"max_id", "maximum id", stats->max_id, false},
		{"ball_larus_max_id", "maximum id of Ball-Larus numbering", stats->ball_larus_max_id, true},
		{"call_sites_total", "call sites in the final code", stats->call_sites_total, false},
		{"call_sites_no_code", "call sites without any code of ours", stats->call_sites_no_code, false},
		{"foreign_objects", "objects without bitcode (foreign code)", stats->foreign_objects, false},
		{"foreign_members", "objects without bitcode in archives, linked where needed", stats->foreign_members,
		 false},
	};

	memcpy(rows, table, sizeof table);
	return sizeof table / sizeof table[0];
}

static void print_text(const struct summary *s, FILE *out)
{
	struct row rows[ROWS_MAX];
	size_t count = make_rows(s, rows);

	plain_print(out, s->path);
	fprintf(out, " (build id %s)\n", s->build_id);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].may_overflow && rows[i].value == UINT64_MAX)
			fprintf(out, "  %20s  %s\n", "over 64 bits", rows[i].label);
		else
			fprintf(out, "  %20" PRIu64 "  %s\n", rows[i].value, rows[i].label);
	}
	if (s->stats.call_sites_total)
		fprintf(out, "  %18.1f %%  share of call sites with no code\n",
			100.0 * (double)s->stats.call_sites_no_code / (double)s->stats.call_sites_total);
}

static void print_json(const struct summary *s, bool is_first, FILE *out)
{
	struct row rows[ROWS_MAX];
	size_t count = make_rows(s, rows);

	fputs(is_first ? "[\n  {\"program\": " : ",\n  {\"program\": ", out);
	json_print_string(out, s->path);
	fputs(", \"build_id\": ", out);
	json_print_string(out, s->build_id);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].may_overflow && rows[i].value == UINT64_MAX)
			fprintf(out, ",\n   \"%s\": null", rows[i].key);
		else
			fprintf(out, ",\n   \"%s\": %" PRIu64, rows[i].key, rows[i].value);
	}
	fputs("}", out);
}

static void summarize(const struct meta *m, struct summary *s)
{
	s->functions = m->function_count;
	s->stats = m->stats;
	for (uint32_t i = 0; i < m->function_count; i++) {
		s->roots += (m->functions[i].flags & META_FUNCTION_ROOT) != 0;
		s->placed += (m->functions[i].flags & META_FUNCTION_PLACED) != 0;
	}
	for (uint32_t i = 1; i < m->site_count; i++) {
		const struct meta_site *site = &m->sites[i];

		s->kinds[site->kind]++;
		s->tail_calls += (site->flags & META_SITE_TAIL) != 0;
		s->zero_edges += site->kind == META_SITE_CALL && site->addend == 0;
	}
}

static struct error *read_program(const struct request *r, const char *path, struct summary *ret)
{
	struct object_wanted wanted = {.path = path};
	struct summary s = {.path = path};
	struct object o;
	struct meta m;
	struct error *err = object_read(path, 0, &o);

	if (err)
		return err;
	wanted.build_id = o.build_id;
	build_id_text(&o.build_id, s.build_id);
	if (o.is_relocatable)
		err = error_create(ERROR_ARGUMENT, "%s: is an object file that is not linked yet: give the program",
				   path);
	object_deinit(&o);
	if (err)
		return err;
	meta_init(&m);
	err = object_find_meta(&r->search, &wanted, &m);
	if (!err) {
		summarize(&m, &s);
		*ret = s;
	}
	meta_deinit(&m);
	return err;
}

static struct error *print_all(const struct request *r, char **paths, FILE *out)
{
	bool is_first = true;

	for (; *paths; paths++, is_first = false) {
		struct summary s;
		struct error *err = read_program(r, *paths, &s);

		if (err)
			return err;
		if (r->format == &formats[FORMAT_JSON]) {
			print_json(&s, is_first, out);
		} else {
			if (!is_first)
				putc('\n', out);
			print_text(&s, out);
		}
	}
	if (r->format == &formats[FORMAT_JSON])
		fputs("\n]\n", out);
	return NULL;
}

static struct error *graph_programs(const struct request *r, char **paths)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	struct error *err;

	if (!memory)
		return &error_no_memory;
	err = print_all(r, paths, memory); /* all or nothing, on standard output too */
	if (fclose(memory) != 0 && !err)
		err = &error_no_memory;
	if (!err)
		err = output_write(r->output, text, size);
	vec_free(text);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.format = &formats[FORMAT_TEXT]};
	int status;

	object_search_init(&r.search);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && optind >= argc)
		status = message_usage("graph", "a program is needed");
	else if (status == OPTIONS_PARSED)
		status = message_error("graph", graph_programs(&r, argv + optind));
	object_search_deinit(&r.search);
	return status;
}

const struct command command_graph = {
	.name = "graph",
	.summary = "show how the calls of a program are encoded",
	.usage = "Usage: waymark graph [OPTIONS] PROGRAM...\n"
		 "\n"
		 "Shows how the calls of a program or shared library are encoded: the columns\n"
		 "of Table 1 of the PCCE paper, and how many calls need code.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_FILE, NULL, true}},
	.run = run,
};
