/* options.c - reads command lines by tables of options, with getopt_long. */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"

enum {
	/* Results of getopt_long: '?', ':', letters, or one of these. */
	RESULT_OPERAND = 1,
	RESULT_FIRST = 256, /* of long names: + index */
};

static size_t list_rows(const struct option_row *table, size_t off, size_t count, struct option_item ret[OPTIONS_MAX])
{
	for (const struct option_row *row = table; row->name || row->heading || row->table; row++) {
		if (row->table) {
			count = list_rows(row->table, off + row->off, count, ret);
			continue;
		}
		assert(count < OPTIONS_MAX);
		ret[count++] = (struct option_item){row, off};
	}
	return count;
}

size_t options_list(const struct option_row *table, struct option_item ret[OPTIONS_MAX])
{
	return list_rows(table, 0, 0, ret);
}

const char *option_word(const struct option_row *row, size_t index)
{
	static const char *const counts[] = {"all", "10", "20", "50", "100", NULL};
	const struct word *word;

	if (row->kind == OPTION_KIND_COUNT)
		return counts[index];
	if (row->word_at)
		return row->word_at(index);
	word = row->words ? word_table_at(row->words, index) : NULL;
	return word ? word->name : NULL;
}

void option_print_words(const struct option_row *row, struct buffer *out)
{
	const char *word;

	for (size_t i = 0; (word = option_word(row, i)); i++)
		buffer_printf(out, "%s%s", !i ? "" : option_word(row, i + 1) ? ", " : " or ", word);
}

bool option_has_equals(const struct option_row *row)
{
	return row->argument && row->argument[0] == '=';
}

const char *option_argument(const struct option_row *row)
{
	return option_has_equals(row) ? row->argument + 1 : row->argument;
}

/* ---- values ---- */

static struct error *no_such_row(const struct command *command, const struct option_row *row, const char *value)
{
	return error_create(ERROR_ARGUMENT, "--%s %s: no such %s; see waymark %s --help", row->name, value, row->name,
			    command->name);
}

static struct error *no_such_word(const struct option_row *row, const char *value)
{
	struct buffer list = {0};
	struct error *err;

	option_print_words(row, &list);
	buffer_u8(&list, 0);
	err = buffer_error(&list);
	if (!err)
		err = error_create(ERROR_ARGUMENT, "--%s %s: must be %s", row->name, value, (char *)list.bytes);
	buffer_deinit(&list);
	return err;
}

static struct error *set_word(const struct option_row *row, unsigned int *place, const char *value)
{
	const char *word;

	for (unsigned int i = 0; (word = option_word(row, i)); i++) {
		if (strcmp(word, value) == 0) {
			*place = i;
			return NULL;
		}
	}
	return no_such_word(row, value);
}

/* Decimal, from 1 to a limit that no array of the program exceeds; signs, spaces and rests are refused. */
static struct error *set_number(const struct option_row *row, size_t *place, const char *value)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n == 0 || n > SIZE_MAX / 1024)
		return error_create(ERROR_ARGUMENT, "--%s %s: a number from 1 is needed", row->name, value);
	*place = (size_t)n;
	return NULL;
}

static struct error *set_count(const struct option_row *row, struct option_count *place, const char *value)
{
	struct option_count count = {.is_given = true};
	struct error *err = strcmp(value, "all") ? set_number(row, &count.n, value) : NULL;

	if (!err)
		*place = count;
	return err;
}

static struct error *set_value(const struct command *command, const struct option_item *item, void *state,
			       const char *value)
{
	const struct option_row *row = item->row;
	void *place = (char *)state + item->off + row->off;
	const void *found;

	switch (row->kind) {
	case OPTION_KIND_SET:
		return row->set(place, value);
	case OPTION_KIND_FLAG:
		*(bool *)place = true;
		return NULL;
	case OPTION_KIND_TEXT:
		*(const char **)place = value;
		return NULL;
	case OPTION_KIND_LIST:
		return value_vec_append(place, value);
	case OPTION_KIND_NUMBER:
		return set_number(row, place, value);
	case OPTION_KIND_COUNT:
		return set_count(row, place, value);
	case OPTION_KIND_WORD:
		return set_word(row, place, value);
	case OPTION_KIND_ROW:
		found = word_table_find(row->words, value);
		if (!found)
			return no_such_row(command, row, value);
		memcpy(place, &found, sizeof found); /* a pointer to whatever kind of row */
		return NULL;
	case OPTION_KIND_HELP:
	case OPTION_KIND_JOINED:
		break;
	}
	return NULL;
}

/* ---- getopt_long ---- */

struct parser {
	const struct command *command;
	struct option_item items[OPTIONS_MAX];
	struct option long_options[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
};

static int argument_of(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return row->is_value_optional ? optional_argument : required_argument;
}

static void parser_init(struct parser *p, const struct command *command)
{
	size_t count = options_list(command->options, p->items);
	char *letters = p->letters;

	if (command->add_operand || command->stops_at_operand)
		*letters++ = command->add_operand ? '-' : '+';
	*letters++ = ':'; /* distinguishes a missing value from an unknown option */
	for (size_t i = 0; i < count; i++) {
		const struct option_row *row = p->items[i].row;

		p->long_options[i] = (struct option){row->name, argument_of(row), NULL, RESULT_FIRST + (int)i};
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && row->argument)
			*letters++ = ':';
	}
	p->long_options[count] = (struct option){0};
	*letters = '\0';
}

static const struct option_item *find_item(const struct parser *p, int result)
{
	const struct option_item *item = p->items;

	if (result >= RESULT_FIRST)
		return &p->items[result - RESULT_FIRST];
	while (item->row->letter != result)
		item++;
	return item;
}

/* Exit status of an error while the command line is read. */
static int usage_error(const struct command *command, struct error *err)
{
	int status = err && err->code == ERROR_ARGUMENT ? STATUS_USAGE : STATUS_FAILED;

	message_error(command->name, err);
	return status;
}

int options_parse(const struct command *command, void *state, int argc, char **argv)
{
	struct parser p;
	struct error *err = NULL;
	int result;

	parser_init(&p, command);
	opterr = 0;
	optind = 0;
	while (!err && (result = getopt_long(argc, argv, p.letters, p.long_options, NULL)) != -1) {
		const struct option_item *item;

		if (result == '?' || result == ':')
			return message_bad_option(command->name, result, argv);
		if (result == RESULT_OPERAND) {
			err = command->add_operand(state, optarg);
			continue;
		}
		item = find_item(&p, result);
		if (item->row->kind == OPTION_KIND_HELP)
			return options_help(command);
		err = set_value(command, item, state, optarg);
	}
	for (; !err && command->add_operand && optind < argc; optind++) /* behind "--" */
		err = command->add_operand(state, argv[optind]);
	return err ? usage_error(command, err) : OPTIONS_PARSED;
}
