/*
 * bash.c - the completion for bash. Markers of its template:
 *
 *      @commands@      names of all commands, as a variable
 *      @options@       branches of a case by command: its options
 *      @values@        branches of a case by command:option: what its value is. "=" behind the option: only after --NAME=
 *      @operands@      branches of a case by command: what its operands are
 *      @nested@        commands, of which the first operand is a command of its own
 */
#include <string.h>

#include "cli/command.h"
#include "cli/generate/generate.h"
#include "cli/generate/shell.h"
#include "cli/generate/template.h"

static struct error *print_commands(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	fputs("_waymark_commands='", out);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(out, "%s ", (*command)->name);
	fputs("help'\n", out);
	return NULL;
}

static struct error *print_options(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	for (const struct command *const *command = commands; *command; command++) {
		struct option_item items[OPTIONS_MAX];
		size_t count = options_list((*command)->options, items);
		const char *space = "";

		fprintf(out, "\t%s) options='", (*command)->name);
		for (size_t i = 0; i < count; i++) {
			const struct option_row *row = items[i].row;

			if (!row->name)
				continue;
			fprintf(out, "%s--%s%s", space, row->name,
				option_has_equals(row) && !row->is_value_optional ? "=" : "");
			space = " ";
		}
		fputs("' ;;\n", out);
	}
	return NULL;
}

static void print_completion(enum completion completion, const char *suffix, FILE *out)
{
	static const char *const kinds[] = {
		[COMPLETE_NOTHING] = "nothing", [COMPLETE_FILE] = "file",       [COMPLETE_DIRECTORY] = "directory",
		[COMPLETE_PROCESS] = "process", [COMPLETE_COMMAND] = "command",
	};

	fprintf(out, "kind='%s%s%s' ;;\n", kinds[completion], suffix ? " " : "", suffix ? suffix : "");
}

static void print_value(const char *command, const struct option_row *row, FILE *out)
{
	putc('\t', out);
	if (row->letter)
		fprintf(out, "%s:-%c | ", command, row->letter);
	/* A value that can be left out is no word of its own. */
	if (row->kind != OPTION_KIND_JOINED && !row->is_value_optional)
		fprintf(out, "%s:--%s | ", command, row->name);
	fprintf(out, "%s:--%s=) ", command, row->name);
	if (option_word(row, 0)) {
		fputs("kind='words ", out);
		shell_print_words(row, out);
		fputs("' ;;\n", out);
	} else {
		print_completion(row->completion, row->suffix, out);
	}
}

static struct error *print_values(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	for (const struct command *const *command = commands; *command; command++) {
		struct option_item items[OPTIONS_MAX];
		size_t count = options_list((*command)->options, items);

		for (size_t i = 0; i < count; i++)
			if (items[i].row->argument)
				print_value((*command)->name, items[i].row, out);
	}
	return NULL;
}

static struct error *print_operands(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	for (const struct command *const *command = commands; *command; command++) {
		const struct operand *operand = (*command)->operands;

		fprintf(out, "\t%s) ", (*command)->name);
		print_completion(operand->completion, operand->suffix, out);
	}
	return NULL;
}

static struct error *print_nested(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	fputs("_waymark_nested='", out);
	for (const struct command *const *command = commands; *command; command++)
		if ((*command)->operands[0].completion == COMPLETE_COMMAND)
			fprintf(out, " %s", (*command)->name);
	fputs(" '\n", out);
	return NULL;
}

struct error *generate_bash(const char *path, FILE *out)
{
	static const struct marker markers[] = {
		{"commands", print_commands}, {"options", print_options}, {"values", print_values},
		{"operands", print_operands}, {"nested", print_nested},   {0},
	};

	return template_print(path, markers, NULL, out);
}
