/*
 * zsh.c - the completion for zsh. Markers of its template:
 *
 *      @commands@      elements of an array for _describe: each command and its summary
 *      @arguments@     branches of a case by command: a call of _arguments
 */
#include <ctype.h>
#include <string.h>

#include "cli/command.h"
#include "cli/generate/generate.h"
#include "cli/generate/shell.h"
#include "cli/generate/template.h"

/* Text inside '...' of the shell, with a backslash before each of the characters that _arguments or _describe knows. */
static void print_quoted(const char *text, size_t len, const char *special, FILE *out)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'')
			fputs("'\\'", out);
		else if (strchr(special, text[i]))
			putc('\\', out);
		putc(text[i], out);
	}
}

static struct error *print_commands(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	for (const struct command *const *command = commands; *command; command++) {
		fprintf(out, "\t\t'%s:", (*command)->name);
		print_quoted((*command)->summary, strlen((*command)->summary), ":", out);
		fputs("'\n", out);
	}
	return NULL;
}

static void print_action(enum completion completion, const char *suffix, FILE *out)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = "",
		[COMPLETE_FILE] = ":_files",
		[COMPLETE_DIRECTORY] = ":_files -/",
		[COMPLETE_PROCESS] = ":_pids",
		[COMPLETE_COMMAND] = ":_command_names -e",
	};

	fputs(actions[completion], out);
	if (suffix)
		fprintf(out, " -g \"*.%s(-.)\"", suffix);
}

/* ":name:what completes it" */
static void print_value(const struct option_row *row, FILE *out)
{
	const char *name = option_argument(row);

	fputs(row->is_value_optional ? "::" : ":", out);
	for (; isalpha((unsigned char)*name); name++)
		putc(tolower((unsigned char)*name), out);
	if (option_word(row, 0)) {
		fputs(":(", out);
		shell_print_words(row, out);
		putc(')', out);
	} else {
		print_action(row->completion, row->suffix, out);
	}
}

/* How a value is given: "=-" only behind the option with =, "=" also as the next word. */
static const char *value_mark(const struct option_row *row)
{
	return !row->argument ? "" : row->kind == OPTION_KIND_JOINED || row->is_value_optional ? "=-" : "=";
}

/* Prints the beginning of the option's help, without parentheses. */
static void print_description(const struct option_row *row, FILE *out)
{
	const char *text = row->kind == OPTION_KIND_HELP ? "print help" : row->help;

	putc('[', out);
	for (; *text; text++) {
		if (strncmp(text, " (", 2) == 0 && strchr(text, ')'))
			text = strchr(text, ')');
		else if (strncmp(text, "; ", 2) == 0 || strncmp(text, ": ", 2) == 0)
			break;
		else
			print_quoted(text, 1, "[]", out);
	}
	putc(']', out);
}

static void print_option(const struct option_row *row, FILE *out)
{
	bool is_repeatable = row->is_repeatable || row->kind == OPTION_KIND_LIST;

	fputs(" \\\n\t\t'", out);
	if (row->kind == OPTION_KIND_HELP)
		fputs("(- *)", out);
	else if (is_repeatable)
		putc('*', out);
	else if (row->letter)
		fprintf(out, "(-%c --%s)", row->letter, row->name);
	if (row->letter)
		fprintf(out, "'{-%c%s,--%s%s}'", row->letter, row->argument ? "+" : "", row->name, value_mark(row));
	else
		fprintf(out, "--%s%s", row->name, value_mark(row));
	print_description(row, out);
	if (row->argument)
		print_value(row, out);
	putc('\'', out);
}

static void print_operand(const struct operand *operand, size_t index, FILE *out)
{
	if (operand->completion == COMPLETE_COMMAND) {
		fprintf(out, " \\\n\t\t'(-):%s:_command_names -e' \\\n\t\t'*::arguments:_normal'", operand->name);
		return;
	}
	fputs(" \\\n\t\t'", out);
	if (operand->is_repeated)
		putc('*', out);
	else
		fprintf(out, "%zu", index + 1);
	fprintf(out, ":%s", operand->name);
	print_action(operand->completion, operand->suffix, out);
	putc('\'', out);
}

static struct error *print_arguments(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	(void)state, (void)t, (void)arguments;
	for (const struct command *const *command = commands; *command; command++) {
		struct option_item items[OPTIONS_MAX];
		size_t count = options_list((*command)->options, items);

		fprintf(out, "%s)\n\t_arguments -S", (*command)->name);
		for (size_t i = 0; i < count; i++)
			if (items[i].row->name)
				print_option(items[i].row, out);
		for (size_t i = 0; i < OPERANDS_MAX && (*command)->operands[i].name; i++)
			print_operand(&(*command)->operands[i], i, out);
		fputs("\n\t;;\n", out);
	}
	return NULL;
}

struct error *generate_zsh(const char *path, FILE *out)
{
	static const struct marker markers[] = {
		{"commands", print_commands},
		{"arguments", print_arguments},
		{0},
	};

	return template_print(path, markers, NULL, out);
}
