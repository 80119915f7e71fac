/*
 * decode.c - `waymark decode`: a filter that replaces tokens by what they stand for. Bytes that are no token pass unchanged,
 * in blocks: memory does not grow with the length of lines, and what was read is written before the next read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/search_options.h"
#include "object/file.h"
#include "model/base/recording.h"
#include "model/base/context_text.h"
#include "model/contexts/token_contexts.h"

enum {
	BLOCK_BYTES = 65536,
	PENDING_MAX = 64, /* stacks under one line; of further tokens in it only the innermost frame is shown */
};

VEC_DECLARE(token_vec, struct token);

struct filter {
	struct token_decoder decoder;
	struct frame_vec frames;
	struct token_vec pending; /* decodable tokens of the present line: their stacks follow it */
	struct token_vec shown;   /* --once */
	struct value_vec awaited; /* --wmk that was not there at the start */
	const char *output;       /* --output, NULL: standard output */
	FILE *out;
	bool is_folded;
	bool is_once;
	bool is_coloured;
};

static const char indent[] = "    ";

static bool is_same_token(const struct token *a, const struct token *b)
{
	return a->run == b->run && a->build == b->build && a->build_kind == b->build_kind && a->site == b->site &&
	       a->id == b->id && a->prefix == b->prefix && a->epoch == b->epoch;
}

static bool was_shown(struct filter *f, const struct token *t)
{
	for (size_t i = 0; i < f->shown.count; i++)
		if (is_same_token(&f->shown.items[i], t))
			return true;
	return false;
}

static struct error *print_stack(struct filter *f, const struct token *t)
{
	struct error *err;

	if (f->is_once && was_shown(f, t))
		return NULL;
	f->frames.count = 0;
	err = token_decode(&f->decoder, t, &f->frames);
	if (!err)
		stack_print_lines(f->out, indent, f->frames.items, f->frames.count, f->is_coloured);
	if (!err && f->is_once)
		err = token_vec_append(&f->shown, *t);
	return err;
}

/* After the end of a line: the stacks of its tokens. */
static struct error *print_pending(struct filter *f)
{
	struct error *err = NULL;

	for (size_t i = 0; i < f->pending.count && !err; i++) {
		if (f->pending.count > 1)
			fprintf(f->out, "  {%zu}\n", i + 1);
		err = print_stack(f, &f->pending.items[i]);
	}
	f->pending.count = 0;
	return err;
}

static void print_bad_token(struct filter *f, const char *text, size_t len, const char *what, const char *reason)
{
	fwrite(text, 1, len, f->out);
	fprintf(f->out, " [wm1: %s", what);
	plain_print(f->out, reason);
	putc(']', f->out);
}

static struct error *print_token(struct filter *f, const struct token *t, const char *text, size_t len)
{
	size_t number = 0; /* of the stack under this line */
	struct error *err;

	if (t->kind == TOKEN_NOT_INSTRUMENTED) {
		print_bad_token(f, text, len, "",
				"captured in code without contexts: build it with waymark cc --wm=contexts");
		return NULL;
	}
	if (t->kind == TOKEN_DAMAGED) {
		print_bad_token(f, text, len, "damaged: ", t->damage);
		return NULL;
	}
	f->frames.count = 0;
	err = token_decode(&f->decoder, t, &f->frames);
	if (err && err->code == ERROR_NO_MEMORY)
		return err;
	if (err) {
		print_bad_token(f, text, len, "", err->message);
		error_destroy(err);
		return NULL;
	}
	if (f->is_folded) {
		stack_print_folded(f->out, f->frames.items, f->frames.count);
		return NULL;
	}
	while (number < f->pending.count && !is_same_token(&f->pending.items[number], t))
		number++;
	fputc('{', f->out);
	if (number)
		fprintf(f->out, "%zu: ", number + 1);
	stack_print_leaf(f->out, f->frames.items, f->frames.count);
	fputc('}', f->out);
	return number == f->pending.count && number < PENDING_MAX ? token_vec_append(&f->pending, *t) : NULL;
}

/* Copies text without tokens; stacks come out behind each line end. */
static struct error *print_plain(struct filter *f, const char *text, size_t len)
{
	while (len) {
		const char *end = f->pending.count ? memchr(text, '\n', len) : NULL;
		size_t part = end ? (size_t)(end + 1 - text) : len;

		fwrite(text, 1, part, f->out);
		if (end) {
			struct error *err = print_pending(f);

			if (err)
				return err;
		}
		text += part;
		len -= part;
	}
	return NULL;
}

/* Works through a block, whose first *used bytes are done with: they are what goes before the rest. */
static struct error *filter_block(struct filter *f, const char *text, size_t len, bool is_end, size_t *used)
{
	struct error *err = NULL;

	while (!err && *used < len) {
		struct token token;
		size_t off, token_len;
		bool is_found = token_find(text, *used, len, is_end, &token, &off, &token_len);

		err = print_plain(f, text + *used, off - *used);
		*used = off;
		if (!is_found || err)
			break;
		err = print_token(f, &token, text + off, token_len);
		*used += token_len;
	}
	return err;
}

/* size_bytes: of the input, 0 when not known. */
static struct error *filter_stream(struct filter *f, int fd, const char *name, uint64_t size_bytes)
{
	char block[BLOCK_BYTES];
	size_t held = 0, used = 0;
	bool is_end = false;
	uint64_t done = 0;
	struct progress progress;
	struct error *err = NULL;

	progress_start(&progress, name);
	if (isatty(fileno(f->out)) || !size_bytes) /* one sees it go on, or waits for input rather than for us */
		progress.is_terminal = false;
	while (!err && !is_end) {
		ssize_t got = read(fd, block + held, sizeof block - held);
		size_t gone;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			progress_end(&progress);
			return error_os(errno, "%s", name);
		}
		progress_update(&progress, done += (uint64_t)got, size_bytes);
		is_end = got == 0;
		held += (size_t)got;
		err = filter_block(f, block, held, is_end, &used);
		gone = used > TOKEN_BEFORE_MAX ? used - TOKEN_BEFORE_MAX : 0;
		memmove(block, block + gone, held - gone);
		held -= gone;
		used -= gone;
		if (!err && (fflush(f->out) != 0 || ferror(f->out)))
			err = error_os(errno, "cannot write the output");
	}
	progress_end(&progress);
	if (!err && f->pending.count) { /* the last line has no end of its own */
		fputc('\n', f->out);
		err = print_pending(f);
	}
	return err;
}

static struct error *filter_file(struct filter *f, const char *path)
{
	struct error *err;
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return filter_stream(f, STDIN_FILENO, "standard input", 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "%s", path);
	if (fstat(fd, &st) != 0)
		err = error_os(errno, "%s", path);
	else if (S_ISDIR(st.st_mode))
		err = error_create(ERROR_ARGUMENT, "%s: is a directory, a text file is needed", path);
	else
		err = filter_stream(f, fd, path, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
	close(fd);
	return err;
}

static struct error *add_directory_of(struct token_decoder *d, const char *path)
{
	char *copy = strdup(path);
	struct error *err = copy ? token_decoder_add_place(d, dirname(copy)) : &error_no_memory;

	free(copy);
	return err;
}

/* WAYMARK_OUT is a directory, or a pattern in one: which it is may not be seen yet. */
static struct error *add_default_places(struct token_decoder *d, char **files)
{
	const char *out = getenv("WAYMARK_OUT");
	struct error *err = token_decoder_add_place(d, ".");

	if (!err && out && *out) {
		err = token_decoder_add_place(d, out);
		if (!err)
			err = add_directory_of(d, out);
	}
	for (; !err && *files; files++)
		err = add_directory_of(d, *files);
	return err;
}

/* A file that the user named and that is none would be passed over silently. */
static struct error *check_wmk(const char *path)
{
	struct wmk_header header;
	struct mapped_file file;
	struct stat st;
	struct error *err;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return NULL;
	err = file_map(path, &file);
	if (err)
		return err;
	err = wmk_read_header(file.bytes, file.len_bytes, path, &header);
	file_unmap(&file);
	return err;
}

/* One that is not there yet may come with its program's first token. */
static struct error *add_wmk(void *state, const char *path)
{
	struct filter *f = state;
	bool is_to_come = access(path, F_OK) != 0 ? errno == ENOENT : recording_is_started(path);
	struct error *err = is_to_come ? value_vec_append(&f->awaited, path) : check_wmk(path);

	return err ? err : token_decoder_add_place(&f->decoder, path);
}

static const struct option_row option_rows[] = {
	{.name = "folded",
	 .help = "replace each token in place by main;f;g, outermost first",
	 OPTION_FLAG(struct filter, is_folded)},
	{.name = "once", .help = "print each stack only the first time", OPTION_FLAG(struct filter, is_once)},
	{.name = "max-depth",
	 .argument = "N",
	 .help = "refuse contexts of more than N frames",
	 .preset = CONTEXT_DEPTH_MAX,
	 OPTION_NUMBER(struct filter, decoder.max_depth)},
	{.name = "wmk",
	 .argument = "PATH",
	 .help = "a .wmk file, or a directory of them; else they are looked for where WAYMARK_OUT points, in the current "
		 "directory and beside each FILE. Recordings may appear and grow meanwhile",
	 .is_repeatable = true,
	 .completion = COMPLETE_FILE,
	 OPTION_SET(add_wmk)},
	OPTIONS_OF(search_options, struct filter, decoder.cache.search),
	OPTION_OUTPUT(struct filter, output),
	OPTION_HELP,
	OPTIONS_END,
};

/* Checks all files that did not exist when the command line was read. */
static struct error *check_awaited(const struct filter *f)
{
	struct error *err = NULL;

	for (size_t i = 0; i < f->awaited.count && !err; i++)
		err = check_wmk(f->awaited.items[i]);
	return err;
}

/* Whether input comes from programs that may still run. */
static bool is_live(char **files)
{
	for (; *files; files++) {
		struct stat st;

		if ((strcmp(*files, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(*files, &st)) == 0 &&
		    !S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

static struct error *decode_all(struct filter *f, char **files)
{
	char standard_input[] = "-";
	char *only_input[] = {standard_input, NULL};
	char **inputs = *files ? files : only_input;
	struct output out;
	struct error *err = add_default_places(&f->decoder, files);

	if (!err && !is_live(inputs))
		err = check_awaited(f);
	if (!err)
		err = output_open(f->output, &out);
	if (err)
		return err;
	f->out = out.file;
	f->is_coloured = message_has_colour(out.file);
	for (; *inputs && !err; inputs++)
		err = filter_file(f, *inputs);
	if (!err)
		err = check_awaited(f);
	return output_end(&out, err);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct filter f = {0};
	int status;

	token_decoder_init(&f.decoder);
	status = options_parse(command, &f, argc, argv);
	if (status == OPTIONS_PARSED)
		status = message_error("decode", decode_all(&f, argv + optind));
	token_decoder_deinit(&f.decoder);
	frame_vec_deinit(&f.frames);
	token_vec_deinit(&f.pending);
	token_vec_deinit(&f.shown);
	value_vec_deinit(&f.awaited);
	return status;
}

const struct command command_decode = {
	.name = "decode",
	.summary = "replace the tokens in any text by the calling contexts they stand for",
	.usage = "Usage: waymark decode [OPTIONS] [FILE...]\n"
		 "\n"
		 "Copies FILEs (or standard input) to standard output and replaces each token\n"
		 "in them (wm1:...) by the calling context that it stands for. A token that\n"
		 "cannot be decoded stays, followed by the reason in brackets.\n"
		 "\n"
		 "Without --folded, a token becomes {FUNCTION at FILE:LINE} and the whole\n"
		 "stack follows on indented lines after its line, innermost frame first.\n",
	.options = option_rows,
	.operands = {{"text file", COMPLETE_FILE, NULL, true}},
	.run = run,
};
