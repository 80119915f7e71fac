/*
 * import_perf.c - the text of `perf script`: a record begins with a line of who, when and what, and has a frame on each of the lines after
 * it, innermost first; an empty line ends it.
 *
 *     COMM PID/TID [CPU] SECONDS.FRACTION: PERIOD EVENT:
 *             ADDRESS SYMBOL+0xOFFSET (IMAGE)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "model/imports/import.h"
#include "model/imports/text_lines.h"

struct perf_frame {
	struct text name;
	uint32_t flags;
};
VEC_DECLARE(perf_frame_vec, struct perf_frame);

struct record {
	struct text event;
	uint64_t period; /* 1 where the line has none */
	struct perf_frame_vec frames;
};

static bool is_frame_line(struct text line)
{
	return line.len_bytes && (*line.at == ' ' || *line.at == '\t');
}

/* "12345.678901:" */
static bool is_time(struct text word)
{
	size_t points = 0;

	if (word.len_bytes < 4 || word.at[word.len_bytes - 1] != ':')
		return false;
	for (size_t i = 0; i + 1 < word.len_bytes; i++) {
		points += word.at[i] == '.';
		if (word.at[i] != '.' && (word.at[i] < '0' || word.at[i] > '9'))
			return false;
	}
	return points == 1 && word.at[0] != '.';
}

/* What is behind the time: a period, which may be missing, and the event, with a colon at its end. */
static bool read_head(struct text line, struct text *ret_event, uint64_t *ret_period)
{
	struct text word;

	do {
		if (!line.len_bytes)
			return false;
		word = text_word(&line);
	} while (!is_time(word));
	word = text_word(&line);
	if (text_number(word, ret_period))
		word = text_word(&line);
	else
		*ret_period = 1;
	if (word.len_bytes < 2 || word.at[word.len_bytes - 1] != ':')
		return false;
	word.len_bytes--;
	*ret_event = word;
	return true;
}

static bool ends_with(struct text t, const char *end)
{
	size_t len_bytes = strlen(end);

	return t.len_bytes >= len_bytes && memcmp(t.at + t.len_bytes - len_bytes, end, len_bytes) == 0;
}

/* The image of "SYMBOL (IMAGE)" is taken off. An image's name may have parentheses: "(libx.so (deleted))". */
static struct text take_image(struct text *line)
{
	size_t at = line->len_bytes, open = 0;
	struct text image = {line->at, 0};

	if (!ends_with(*line, ")"))
		return image;
	while (at) {
		at--;
		open += line->at[at] == ')';
		open -= open && line->at[at] == '(';
		if (!open)
			break;
	}
	if (at < 1 || line->at[at] != '(' || line->at[at - 1] != ' ')
		return image;
	image = (struct text){line->at + at + 1, line->len_bytes - at - 2};
	line->len_bytes = at - 1;
	return image;
}

/* "+0x1f" at the end. */
static void drop_offset(struct text *name)
{
	size_t at = name->len_bytes;

	while (at && strchr("0123456789abcdef", name->at[at - 1]))
		at--;
	if (at > 3 && at < name->len_bytes && memcmp(name->at + at - 3, "+0x", 3) == 0)
		name->len_bytes = at - 3;
}

static struct perf_frame read_frame(struct text line)
{
	struct perf_frame frame = {.flags = 0};
	struct text image;

	text_word(&line); /* the address */
	while (ends_with(line, " "))
		line.len_bytes--;
	if (ends_with(line, " (inlined)")) {
		line.len_bytes -= strlen(" (inlined)");
		frame.flags = FRAME_INLINED;
	}
	image = take_image(&line);
	drop_offset(&line);
	frame.name = line;
	if (line.len_bytes == 9 && memcmp(line.at, "[unknown]", 9) == 0 && image.len_bytes && *image.at != '[') {
		const char *slash = memrchr(image.at, '/', image.len_bytes);

		frame.name = slash ? text_from(image, (size_t)(slash + 1 - image.at)) : image;
		frame.flags = FRAME_FOREIGN;
	}
	return frame;
}

static struct error *add_frame(struct profile *p, uint32_t parent, const struct perf_frame *f, uint32_t *ret_node)
{
	struct frame frame = {.flags = f->flags};
	char *name = NULL;
	int len;
	struct error *err;

	len = f->flags & FRAME_FOREIGN ? asprintf(&name, "[%.*s]", (int)f->name.len_bytes, f->name.at)
				       : asprintf(&name, "%.*s", (int)f->name.len_bytes, f->name.at);
	if (len < 0)
		return &error_no_memory;
	frame.name = name;
	err = profile_spend(p, 1) ?: profile_add_frame(p, parent, &frame, ret_node);
	free(name);
	return err;
}

/* Events whose period is nanoseconds. */
static bool is_clock(const char *event)
{
	return strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0;
}

static struct error *add_record(struct profile *p, const struct record *r)
{
	char *name = NULL, *sum = NULL;
	uint32_t node = 0, count_metric, sum_metric;
	struct error *err = NULL;

	if (asprintf(&name, "%.*s", (int)r->event.len_bytes, r->event.at) < 0)
		return &error_no_memory;
	if (asprintf(&sum, "%s:sum", name) < 0) {
		free(name);
		return &error_no_memory;
	}
	for (size_t i = r->frames.count; i-- > 0 && !err;)
		err = add_frame(p, node, &r->frames.items[i], &node);
	err = err ?: import_metric(p, name, UNIT_COUNT, &count_metric) ?:
	      import_metric(p, sum, is_clock(name) ? UNIT_TIME : UNIT_VALUE, &sum_metric) ?:
	      profile_add_value(p, node, count_metric, 1) ?: profile_add_value(p, node, sum_metric, r->period);
	free(name);
	free(sum);
	return err;
}

bool import_is_perf(const struct mapped_file *file)
{
	struct text_lines lines = text_lines_of(file);
	struct text event;
	uint64_t period;

	while (text_lines_next(&lines))
		if (lines.line.len_bytes && *lines.line.at != '#')
			return !is_frame_line(lines.line) && read_head(lines.line, &event, &period);
	return false;
}

struct error *import_perf(struct profile *p, const char *path, const struct mapped_file *file)
{
	struct text_lines lines = text_lines_of(file);
	struct record record = {.period = 0};
	bool is_open = false;
	struct error *err = NULL;

	while (!err && text_lines_next(&lines)) {
		if (lines.line.len_bytes && *lines.line.at == '#')
			continue;
		if (is_frame_line(lines.line)) {
			if (is_open)
				err = perf_frame_vec_append(&record.frames, read_frame(lines.line));
			continue;
		}
		if (is_open)
			err = add_record(p, &record);
		is_open = false;
		record.frames.count = 0;
		if (err || !lines.line.len_bytes)
			continue;
		if (read_head(lines.line, &record.event, &record.period))
			is_open = true;
		else
			err = error_create(ERROR_FORMAT, "%s:%zu: not the first line of a record of perf script", path,
					   lines.number);
	}
	if (is_open && !err)
		err = add_record(p, &record);
	perf_frame_vec_deinit(&record.frames);
	return err;
}
