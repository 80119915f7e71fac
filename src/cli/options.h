/*
 * options.h - the options of a subcommand: one table, from which come parsing, --help, the option list of the manual page and
 * both completions (generate/).
 *
 *      static const struct option_row option_rows[] = {
 *              {.name = "full", .help = "show each line of each path", OPTION_FLAG(struct request, is_full)},
 *              {.name = "top", .argument = "N", .help = "only the first N", OPTION_COUNT(struct request, top)},
 *              {.name = "wmk", .argument = "PATH", .help = "a .wmk file", .completion = COMPLETE_FILE, .set = add_wmk},
 *              OPTIONS_OF(search_options, struct request, search),
 *              OPTION_OUTPUT(struct request, output),
 *              OPTION_HELP,
 *              OPTIONS_END,
 *      };
 */
#ifndef WM_CLI_OPTIONS_H
#define WM_CLI_OPTIONS_H

#include <getopt.h> /* optind */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"
#include "base/word_table.h"

/* Values of an option that may be given several times. */
VEC_DECLARE(value_vec, const char *);

/* The value of --top and others: a number, or "all". */
struct option_count {
	bool is_given;
	size_t n; /* 0: all */
};

static inline size_t option_count_or(const struct option_count *count, size_t otherwise)
{
	return count->is_given ? count->n : otherwise;
}

/* The completions that the shell offers for a value or an operand. */
enum completion {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_DIRECTORY,
	COMPLETE_PROCESS,
	COMPLETE_COMMAND, /* of PATH, and its arguments */
};

/* Where a value goes: to `off` in the state. */
enum option_kind {
	OPTION_KIND_SET,    /* to the function `set` */
	OPTION_KIND_FLAG,   /* bool: true */
	OPTION_KIND_TEXT,   /* const char * */
	OPTION_KIND_LIST,   /* struct value_vec: appended */
	OPTION_KIND_NUMBER, /* size_t: from 1 */
	OPTION_KIND_COUNT,  /* struct option_count */
	OPTION_KIND_WORD,   /* unsigned int: the index in `words` */
	OPTION_KIND_ROW,    /* pointer: to the row in `words`, whose summaries --help lists */
	OPTION_KIND_HELP,
	OPTION_KIND_JOINED, /* nowhere: the subcommand reads --NAME=VALUE itself; --help lists `words` */
};

/* Without a name: a heading of --help, the rows of another table, or the end. */
struct option_row {
	const char *name; /* without the dashes */
	char letter;
	bool is_repeatable; /* so is each of OPTION_KIND_LIST */
	bool is_required;
	bool is_value_optional; /* of "=N": --name alone gives NULL to `set` */
	enum option_kind kind;
	const char *argument; /* "N": shown as --name N; "=N": as --name=N; NULL: takes no value */
	const char *help;     /* one paragraph; %s in it is where the words are named that complete the value */
	size_t preset;        /* shown at its end; 0: none */

	size_t off;
	struct error *(*set)(void *state, const char *value); /* state: moved by `off` */

	enum completion completion;
	const char *suffix;                   /* of files, NULL: any */
	const struct word_table *words;       /* that complete it */
	const char *(*word_at)(size_t index); /* the same where they are no table; NULL behind the last one */

	const char *heading;
	const struct option_row *table; /* its state is at `off` */
};

/* Offset of a member whose type is checked. */
#define OPTION_MEMBER(type, member, wanted) \
	(offsetof(type, member) +           \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), wanted) ? 1 : -1]))

#define OPTION_FLAG(type, member) .kind = OPTION_KIND_FLAG, .off = OPTION_MEMBER(type, member, bool)
#define OPTION_TEXT(type, member) .kind = OPTION_KIND_TEXT, .off = OPTION_MEMBER(type, member, const char *)
#define OPTION_LIST(type, member) .kind = OPTION_KIND_LIST, .off = OPTION_MEMBER(type, member, struct value_vec)
#define OPTION_NUMBER(type, member) .kind = OPTION_KIND_NUMBER, .off = OPTION_MEMBER(type, member, size_t)
#define OPTION_COUNT(type, member) .kind = OPTION_KIND_COUNT, .off = OPTION_MEMBER(type, member, struct option_count)
#define OPTION_WORD(type, member, table) \
	.kind = OPTION_KIND_WORD, .off = OPTION_MEMBER(type, member, unsigned int), .words = (table)
#define OPTION_ROW(type, member, table) .kind = OPTION_KIND_ROW, .off = offsetof(type, member), .words = (table)
#define OPTION_SET(setter) .kind = OPTION_KIND_SET, .set = (setter)

/* -o FILE */
#define OPTION_OUTPUT(type, member) \
	{.name = "output",          \
	 .letter = 'o',             \
	 .argument = "FILE",        \
	 .help = "write to FILE",   \
	 OPTION_TEXT(type, member), \
	 .completion = COMPLETE_FILE}
/* The last one of each subcommand. */
#define OPTION_HELP {.name = "help", .letter = 'h', .help = "this text", .kind = OPTION_KIND_HELP}
/* The rows of a shared table, whose state is a member. */
#define OPTIONS_OF(rows, type, member) {.table = (rows), .off = offsetof(type, member)}
#define OPTIONS_HEADING(text) {.heading = (text)}
#define OPTIONS_END {0}

/* ---- a table, row by row ---- */

enum {
	OPTIONS_MAX = 40, /* of a subcommand, those of shared tables included */
};

/* A row with a name or a heading, and where its state begins in that of the subcommand. */
struct option_item {
	const struct option_row *row;
	size_t off;
};

/* The table with shared ones unfolded. Returns how many there are. */
size_t options_list(const struct option_row *table, struct option_item ret[OPTIONS_MAX]);

/* The words that complete its value: NULL behind the last one. */
const char *option_word(const struct option_row *row, size_t index);
/* "A, B or C" */
void option_print_words(const struct option_row *row, struct buffer *out);
/* --NAME=VALUE is how it is shown; else --NAME VALUE. */
bool option_has_equals(const struct option_row *row);
/* Its name in help and synopses: N of "=N"; NULL: it takes no value. */
const char *option_argument(const struct option_row *row);

/* ---- a command line ---- */

struct command;

enum {
	OPTIONS_PARSED = -1, /* without a mistake and without --help: go on */
};

/* OPTIONS_PARSED with optind at the first operand; else the exit status, after --help or a message on stderr. */
int options_parse(const struct command *command, void *state, int argc, char **argv);

/* `waymark NAME --help` on stdout. STATUS_OK, or STATUS_FAILED if stdout cannot take it. */
int options_help(const struct command *command);

#endif
