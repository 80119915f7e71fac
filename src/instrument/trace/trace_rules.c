/* trace_rules.c - which schemes a function is compiled with: those of the first rule that matches it (format/scheme.h). */
#include <errno.h>
#include <stdio.h>

#include <llvm-c/DebugInfo.h>

#include "format/scheme.h"
#include "instrument/trace/trace.h"

/* The text of a file of rules. */
static struct error *read_file(struct arena *arena, const char *path, const char **ret)
{
	struct buffer text = {0};
	char part[4096];
	size_t got;
	FILE *file = fopen(path, "re");
	if (!file)
		return error_os(errno, "--wm=trace=@%s: cannot read the rules", path);
	while ((got = fread(part, 1, sizeof part, file)) > 0)
		buffer_bytes(&text, part, got);
	buffer_u8(&text, 0);
	struct error *err = ferror(file) ? error_os(errno, "--wm=trace=@%s: cannot read the rules", path) : NULL;
	fclose(file);
	if (!err)
		err = buffer_error(&text);
	*ret = err ? NULL : arena_strdup(arena, (const char *)text.bytes);
	buffer_deinit(&text);
	return err || *ret ? err : &error_no_memory;
}

struct error *trace_rules_read(struct trace_module *m)
{
	m->rules = m->options->rules;
	return m->rules[0] == '@' ? read_file(&m->meta.arena, m->rules + 1, &m->rules) : NULL;
}

/* "_ZN3foo3barEi" is also called bar: what people write in rules. */
static const char *plain_name(struct trace_function *f)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(f->function);
	unsigned len_bytes = 0;
	const char *name = subprogram ? f->m->paths.host->plain_name(subprogram, &len_bytes) : NULL;
	return name && len_bytes ? arena_strndup(f->scratch, name, len_bytes) : NULL;
}

struct error *trace_rules_apply(struct trace_function *f, const struct path_graph *g)
{
	const char *text = f->m->rules;
	f->plain_name = plain_name(f);
	struct scheme_rule rule;
	struct scheme_problem problem = {0};
	while (scheme_next_rule(&text, &rule, &problem)) {
		if (!scheme_rule_matches(&rule, g->meta.name, f->plain_name, g->meta.file))
			continue;
		f->scheme_count = rule.count;
		for (unsigned i = 0; i < rule.count; i++)
			f->schemes[i] = rule.schemes[i];
		return NULL;
	}
	if (problem.what)
		return error_create(ERROR_ARGUMENT, "--wm=trace: %s at \"%.20s\"", problem.what, problem.at);
	return NULL;
}
