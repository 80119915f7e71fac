/* options_help.c - `waymark NAME --help`: the subcommand's own text around a list of its options. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"

enum {
	WIDTH = 79,
	HELP_COLUMN = 20, /* where texts begin */
	TERM_MAX = 96,
};

/* Puts text to the right of `column` and breaks it between words; the line has `at` columns already. */
static void print_paragraph(const char *text, size_t column, size_t at)
{
	const char *space = "";

	for (const char *word = text; *word;) {
		size_t len = strcspn(word, " ");

		if (*space && at + 1 + len > WIDTH) {
			printf("\n%*s", (int)column, "");
			space = "";
			at = column;
		}
		printf("%s%.*s", space, (int)len, word);
		at += strlen(space) + len;
		space = " ";
		word += len + (word[len] == ' ');
	}
}

static void print_option(const char *term, const char *text, size_t column)
{
	size_t len = 2 + strlen(term);
	size_t gap = len < column ? column - len : 2;

	printf("  %s%*s", term, (int)gap, "");
	print_paragraph(text, column, len + gap);
	putchar('\n');
}

/* Help with its words and its preset; malloc'd. */
static char *make_text(const struct option_row *row)
{
	const char *mark = strstr(row->help, "%s");
	struct buffer text = {0};

	buffer_printf(&text, "%.*s", (int)(mark ? (size_t)(mark - row->help) : strlen(row->help)), row->help);
	if (mark) {
		option_print_words(row, &text);
		buffer_printf(&text, "%s", mark + 2);
	}
	if (row->preset)
		buffer_printf(&text, " (%zu)", row->preset);
	buffer_u8(&text, 0);
	if (buffer_error(&text))
		buffer_deinit(&text);
	return (char *)text.bytes;
}

/* "-o, --output FILE" */
static void make_term(const struct option_row *row, char ret[TERM_MAX])
{
	char letter[] = {'-', row->letter, ',', ' ', '\0'};

	snprintf(ret, TERM_MAX, "%s--%s%s%s%s%s", row->letter ? letter : "", row->name,
		 row->argument && !option_has_equals(row) ? " " : "", row->is_value_optional ? "[" : "",
		 row->argument ? row->argument : "", row->is_value_optional ? "]" : "");
}

static void print_words(const struct option_row *row, size_t column)
{
	const struct word *word;
	char term[TERM_MAX];

	for (size_t i = 0; (word = word_table_at(row->words, i)); i++) {
		if (!word->summary)
			continue;
		snprintf(term, sizeof term, "--%s=%s", row->name, word->name);
		print_option(term, word->summary, column);
	}
}

static void print_row(const struct option_row *row, size_t column)
{
	char term[TERM_MAX];
	char *text;

	if (row->heading) {
		printf("\n%s\n", row->heading);
	} else if (row->kind == OPTION_KIND_JOINED && row->words) {
		print_words(row, column);
	} else {
		make_term(row, term);
		text = make_text(row);
		print_option(term, text ? text : row->help, column);
		vec_free(text);
	}
}

/* The rows of --format, one a line. */
static void print_formats(const struct option_row *row)
{
	const struct word *word;
	size_t width = 0;

	if (row->kind != OPTION_KIND_ROW || !word_table_at(row->words, 0)->summary)
		return;
	for (size_t i = 0; (word = word_table_at(row->words, i)); i++)
		if (strlen(word->name) > width)
			width = strlen(word->name);
	printf("Formats (--%s=%s):\n", row->name, option_argument(row));
	for (size_t i = 0; (word = word_table_at(row->words, i)); i++)
		printf("  %-*s  %s\n", (int)width, word->name, word->summary);
	putchar('\n');
}

int options_help(const struct command *command)
{
	struct option_item items[OPTIONS_MAX];
	size_t count = options_list(command->options, items);

	printf("%s\n", command->usage);
	for (size_t i = 0; i < count; i++)
		print_formats(items[i].row);
	puts("Options:");
	for (size_t i = 0; i < count; i++)
		print_row(items[i].row, command->help_column ? command->help_column : HELP_COLUMN);
	return message_help(command->name, command->notes ? command->notes : "");
}
