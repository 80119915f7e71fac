/*
 * man.c - manual pages in mdoc(7). Markers of a template:
 *
 *      @synopsis@              .Op of each option that is not required
 *      @option NAME...@        .It of options that are described together; NAME=WORD: one word of an option
 *      @command NAME...@       the same for commands
 */
#include <ctype.h>
#include <string.h>

#include "cli/command.h"
#include "cli/generate/generate.h"
#include "cli/generate/template.h"

enum {
	NAME_MAX_BYTES = 64,
};

struct page {
	const struct command *command;
	struct option_item items[OPTIONS_MAX];
	size_t count;
	bool is_described[OPTIONS_MAX];
	uint64_t words_described[OPTIONS_MAX]; /* a bit each */
	uint64_t commands_described;
};

/* "FILE..." becomes "file ..." */
static void print_argument(const char *name, FILE *out)
{
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < len; i++)
		putc(tolower((unsigned char)name[i]), out);
	if (name[len])
		fprintf(out, " %s", name + len);
}

static void print_value(const struct option_row *row, FILE *out)
{
	if (!row->argument)
		return;
	if (row->is_value_optional)
		fputs(" Ns Oo Ns = Ns Ar ", out);
	else
		fputs(option_has_equals(row) ? " Ns = Ns Ar " : " Ar ", out);
	print_argument(option_argument(row), out);
	if (row->is_value_optional)
		fputs(" Oc", out);
}

static struct error *print_synopsis(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	const struct page *page = state;

	(void)t, (void)arguments;
	for (size_t i = 0; i < page->count; i++) {
		const struct option_row *row = page->items[i].row;

		if (!row->name || row->is_required || row->kind == OPTION_KIND_HELP)
			continue;
		if (row->letter)
			fprintf(out, ".Op Fl %c", row->letter);
		else
			fprintf(out, ".Op Fl -%s", row->name);
		print_value(row, out);
		putc('\n', out);
	}
	return NULL;
}

/* --NAME=WORD; WORD may end in =VALUE. */
static struct error *print_word(struct page *page, const struct template_file *t, size_t item, const char *text,
				FILE *out)
{
	const struct option_row *row = page->items[item].row;
	const char *word;
	size_t index = 0, len;

	while ((word = option_word(row, index)) && strcmp(word, text) != 0)
		index++;
	if (!word)
		return template_error(t, "--%s does not take %s", row->name, text);
	page->words_described[item] |= UINT64_C(1) << index;
	len = strcspn(word, "=");
	fprintf(out, "Fl -%s Ns = Ns Cm %.*s", row->name, (int)len, word);
	if (word[len]) {
		fputs(" Ns = Ns Ar ", out);
		print_argument(word + len + 1, out);
	}
	return NULL;
}

/* Whether a macro line of text, which ends at `end`, marks the word: ".It Cm word" or ".Cm other , word ." */
static bool has_word(const char *text, const char *end, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line < end; line += strcspn(line, "\n") + 1) {
		const char *line_end = line + strcspn(line, "\n");
		const char *at = *line == '.' ? memmem(line, (size_t)(line_end - line), "Cm ", 3) : NULL;

		for (at = at ? at + 2 : line_end; at < line_end; at += 1 + strcspn(at + 1, " \n"))
			if (strncmp(at + 1, word, len) == 0 && strchr(" \n", at[1 + len]))
				return true;
	}
	return false;
}

/* The description of an option, or else the one on another page, names each word of its value; one that is made of other words may
 * do so anywhere. */
static struct error *check_section(const struct template_file *t, const struct option_row *row)
{
	const char *end = row->words ? strstr(t->rest, "\n@option ") : NULL;
	const char *start = row->words ? t->rest : t->text;
	const char *other = strstr(start, "\n.Xr waymark-");
	const char *word;

	if (!end)
		end = start + strlen(start);
	if (row->kind == OPTION_KIND_COUNT || (row->words && other && other < end))
		return NULL;
	for (size_t i = 0; (word = option_word(row, i)); i++)
		if (!has_word(start, end, word))
			return template_error(t, "%s, which --%s takes, is not described", word, row->name);
	return NULL;
}

static struct error *print_term(struct page *page, const struct template_file *t, char *name, FILE *out)
{
	char *word = strchr(name, '=');
	size_t item = 0;

	if (word) /* NAME=WORD */
		*word++ = '\0';
	while (item < page->count && (!page->items[item].row->name || strcmp(page->items[item].row->name, name) != 0))
		item++;
	if (item == page->count)
		return template_error(t, "there is no option --%s", name);
	if (word)
		return print_word(page, t, item, word, out);
	if (page->is_described[item])
		return template_error(t, "--%s is described already", name);
	page->is_described[item] = true;
	if (page->items[item].row->letter)
		fprintf(out, "Fl %c , -%s", page->items[item].row->letter, name);
	else
		fprintf(out, "Fl -%s", name);
	print_value(page->items[item].row, out);
	return check_section(t, page->items[item].row);
}

/* Takes the next word of a marker, cut to size; false: there is none. */
static bool next_name(const char **arguments, char ret[NAME_MAX_BYTES])
{
	size_t len = strcspn(*arguments, " ");

	snprintf(ret, NAME_MAX_BYTES, "%.*s", (int)len, *arguments);
	*arguments += len + ((*arguments)[len] == ' ');
	return len != 0;
}

static struct error *print_option(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	const char *before = ".It ";
	struct error *err = NULL;

	for (char name[NAME_MAX_BYTES]; !err && next_name(&arguments, name);) {
		fputs(before, out);
		err = print_term(state, t, name, out);
		before = " , ";
	}
	putc('\n', out);
	return err;
}

static struct error *print_command(void *state, const struct template_file *t, const char *arguments, FILE *out)
{
	struct page *page = state;
	const char *before = ".It Cm ";

	for (char name[NAME_MAX_BYTES]; next_name(&arguments, name);) {
		size_t index = 0;

		while (commands[index] && strcmp(commands[index]->name, name) != 0)
			index++;
		if (!commands[index])
			return template_error(t, "there is no command %s", name);
		page->commands_described |= UINT64_C(1) << index;
		fprintf(out, "%s%s", before, name);
		before = " , ";
	}
	putc('\n', out);
	return NULL;
}

/* An option of which only words are described is described when all are that --help lists. */
static struct error *check_words(const struct page *page, const char *path, size_t item)
{
	const struct option_row *row = page->items[item].row;
	const struct word *word;

	if (!page->words_described[item])
		return error_create(ERROR_NOT_FOUND, "%s: --%s is not described: @option %s@", path, row->name,
				    row->name);
	for (size_t i = 0; (word = word_table_at(row->words, i)); i++)
		if (word->summary && !(page->words_described[item] >> i & 1))
			return error_create(ERROR_NOT_FOUND, "%s: --%s=%s is not described", path, row->name,
					    word->name);
	return NULL;
}

static struct error *check_page(const struct page *page, const char *path)
{
	struct error *err = NULL;

	for (size_t i = 0; i < page->count && !err; i++)
		if (page->items[i].row->name && !page->is_described[i])
			err = check_words(page, path, i);
	for (size_t i = 0; !page->command && commands[i] && !err; i++)
		if (!(page->commands_described >> i & 1))
			err = error_create(ERROR_NOT_FOUND, "%s: %s is not described", path, commands[i]->name);
	return err;
}

struct error *generate_man(const char *path, const struct command *command, FILE *out)
{
	static const struct marker markers[] = {
		{"synopsis", print_synopsis},
		{"option", print_option},
		{"command", print_command},
		{0},
	};
	struct page page = {.command = command};
	struct error *err;

	if (command)
		page.count = options_list(command->options, page.items);
	err = template_print(path, markers, &page, out);
	return err ? err : check_page(&page, path);
}
