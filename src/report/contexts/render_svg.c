/*
 * render_svg.c - a flame graph as one SVG file without anything outside: the root at the top, so that a browser shows where
 * contexts begin however deep they are; width is the share of the metric, colour comes from the name. Its script
 * (flame.js) fills the window, zooms on click and searches; without scripts it is a picture with hover titles. Boxes narrower than a
 * twentieth of a pixel are left out: no zoom a reader makes would find them.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "model/base/flame_tree.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/renderer.h"
#include "report/embedded.h"

enum {
	WIDTH = 1200,
	MARGIN = 12,
	HEAD = 64, /* above the boxes */
	FOOT = 34,
	NOTE = 18, /* a line of notes */
	LEVEL = 19,
	QUERY = 240, /* width of the field for a search */
	DEPTH_MAX = 400,
	BOX_BYTES = 250, /* in the file, besides names */
};
static const double BOX_WIDTH_MIN = 0.05;
static const double CHAR_WIDTH = 7.0; /* of the monospaced font at 11.5 px, rounded up */

/* len bytes of text; what is no UTF-8 or no printable character becomes '?', a character that len cuts is left out. */
static void print_escaped(FILE *out, const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + len;

	while (p < end && *p) {
		size_t bytes = plain_len((const char *)p);

		if (bytes > (size_t)(end - p))
			return;
		if (*p == '<')
			fputs("&lt;", out);
		else if (*p == '>')
			fputs("&gt;", out);
		else if (*p == '&')
			fputs("&amp;", out);
		else if (*p == '"')
			fputs("&quot;", out);
		else if (bytes == 0 || (*p == 0xef && p[1] == 0xbf && p[2] >= 0xbe))
			putc('?', out); /* U+FFFE and U+FFFF are no characters of XML */
		else
			fwrite(p, 1, bytes, out);
		p += bytes ? bytes : 1;
	}
}

static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h ^ h >> 15;
}

/* Warm for functions, grey for roots, blue for code without Waymark; the hash varies hue and lightness a little. */
static void print_colour(FILE *out, const struct flame_box *box)
{
	uint32_t h = hash_name(box->name);

	if (box->depth == 0)
		fputs("#d8d4cc", out);
	else if (box->flags & (FRAME_ROOT | FRAME_ELIDED))
		fputs("#c3c8cf", out);
	else if (box->flags & FRAME_FOREIGN)
		fprintf(out, "hsl(%u,46%%,%u%%)", 203 + h % 16, 72 + h / 16 % 9);
	else
		fprintf(out, "hsl(%u,%u%%,%u%%)", 10 + h % 40, 76 + h / 64 % 14, 64 + h / 1024 % 11);
}

/* Red for what has grown, blue for what has shrunk, the stronger the larger the change is beside the box; white for no change. */
static void print_change_colour(FILE *out, const struct flame_box *box)
{
	double change = ((double)box->after - (double)box->before) / (box->total ? (double)box->total : 1);

	if (box->depth == 0)
		fputs("#d8d4cc", out);
	else if (change >= 0)
		fprintf(out, "hsl(12,85%%,%.0f%%)", 96 - 38 * change);
	else
		fprintf(out, "hsl(212,75%%,%.0f%%)", 96 + 38 * change);
}

static void print_value(FILE *out, uint64_t value, enum metric_unit unit)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double size = (double)value / 1024;
	size_t i = 0;

	char time[DIGITS_MAX];

	if (unit == UNIT_TIME) {
		fputs(digits_time(value, time), out);
		return;
	}
	fprintf(out, "%" PRIu64, value);
	if (unit != UNIT_BYTES)
		return;
	fputs(" bytes", out);
	if (value < 10240)
		return;
	for (; size >= 1024 && i + 1 < sizeof units / sizeof units[0]; i++)
		size /= 1024;
	fprintf(out, ", %.1f %s", size, units[i]);
}

/*
 * A name without the package: [java.util.ArrayList.add] is [ArrayList.add]. Returns where the rest begins; *ret_lead: what stands in
 * front of it, as "[" or "[indirect:".
 */
static const char *simple_name(const struct flame_box *box, size_t *ret_lead)
{
	const char *name = box->name, *colon = strchr(name, ':'), *start = name, *method, *class;

	*ret_lead = 0;
	if (!(box->flags & FRAME_METHOD))
		return name;
	if (*name == '[')
		start = colon ? colon + 1 : name + 1;
	method = strrchr(start, '.');
	class = method ? memrchr(start, '.', (size_t)(method - start)) : NULL;
	if (!class)
		return name;
	*ret_lead = (size_t)(start - name);
	return class + 1;
}

/* The first `len` bytes of what stands on the box. */
static void print_label(FILE *out, const char *name, size_t lead, const char *rest, size_t len)
{
	print_escaped(out, name, lead < len ? lead : len);
	if (len > lead)
		print_escaped(out, rest, len - lead);
}

/* What a box stands for, behind its name. */
static void print_numbers(const struct view *v, const struct flame_box *box, double part, FILE *out)
{
	enum metric_unit unit = v->profile->metrics.items[v->metric].unit;

	if (!v->has_change) {
		print_value(out, box->total, unit);
		fprintf(out, " (%.2f%%)", part * 100);
		return;
	}
	print_value(out, box->before, unit);
	fputs(" -&gt; ", out);
	print_value(out, box->after, unit);
	if (box->before)
		fprintf(out, " (%+.1f%%)", 100 * ((double)box->after - (double)box->before) / (double)box->before);
}

/* The line and the image, where all of the box have one. */
static void print_place(const struct flame_box *box, FILE *out)
{
	if (box->file) {
		putc('\n', out);
		print_escaped(out, box->file, strlen(box->file));
		if (box->line)
			fprintf(out, ":%" PRIu32, box->line);
	}
	if (box->image) {
		fputs(box->file ? " in " : "\nin ", out);
		print_escaped(out, box->image, strlen(box->image));
	}
}

static void print_note(const struct view *v, const struct flame_box *box, FILE *out)
{
	const char *note = view_function_note(v, box->name);

	if (!note)
		return;
	putc('\n', out);
	print_escaped(out, note, strlen(note));
}

static size_t place_bytes(const struct flame_box *box)
{
	return (box->file ? strlen(box->file) : 0) + (box->image ? strlen(box->image) : 0);
}

static void print_box(const struct view *v, const struct flame *f, const struct flame_box *box, FILE *out)
{
	double scale = WIDTH - 2 * MARGIN;
	double part = f->boxes[0].total ? (double)box->total / (double)f->boxes[0].total : 1;
	double left = (double)MARGIN + box->x * scale;
	double width = part * scale;
	unsigned int y = HEAD + box->depth * LEVEL;
	double chars = (width - 8) / CHAR_WIDTH;
	size_t lead, len;
	const char *rest = simple_name(box, &lead);

	len = lead + strlen(rest);
	fprintf(out, "<g class=\"f\" data-x=\"%.9f\" data-w=\"%.9f\"", box->x, part);
	if (rest != box->name) {
		fputs(" data-label=\"", out);
		print_label(out, box->name, lead, rest, len);
		putc('"', out);
	}
	fputs("><title>", out);
	print_escaped(out, box->name, strlen(box->name));
	fputs("\n", out);
	print_numbers(v, box, part, out);
	print_place(box, out);
	print_note(v, box, out);
	fprintf(out, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" rx=\"2\" fill=\"", left, y,
		width > 0.6 ? width - 0.5 : width, LEVEL - 1);
	if (v->has_change)
		print_change_colour(out, box);
	else
		print_colour(out, box);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%u\">", left + 4, y + 13);
	if (chars >= (double)len) {
		print_label(out, box->name, lead, rest, len);
	} else if (chars >= 3) {
		print_label(out, box->name, lead, rest, (size_t)chars - 2);
		fputs("..", out);
	}
	fputs("</text></g>\n", out);
}

static bool is_drawn(const struct flame *f, const struct flame_box *box)
{
	double whole = f->boxes[0].total ? (double)f->boxes[0].total : 1;

	return box->depth <= DEPTH_MAX && (double)box->total / whole * (WIDTH - 2 * MARGIN) >= BOX_WIDTH_MIN;
}

/* A long name is in the title of each of its boxes. */
static struct error *check_size(const struct view *v, const struct flame *f)
{
	uint64_t sum = 0;
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->count && !err; i++) {
		if (!is_drawn(f, &f->boxes[i]))
			continue;
		sum += strlen(f->boxes[i].name) + place_bytes(&f->boxes[i]) + BOX_BYTES;
		err = view_check_size(v, sum);
	}
	return err;
}

static void print_boxes(const struct view *v, const struct flame *f, FILE *out)
{
	fputs("<g id=\"boxes\">\n", out);
	for (uint32_t i = 0; i < f->count; i++)
		if (is_drawn(f, &f->boxes[i]))
			print_box(v, f, &f->boxes[i], out);
	fputs("</g>\n", out);
}

/* Rows of boxes in the picture. */
static uint32_t count_levels(const struct flame *f)
{
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < f->count; i++)
		if (is_drawn(f, &f->boxes[i]) && f->boxes[i].depth > deepest)
			deepest = f->boxes[i].depth;
	return deepest + 1;
}

static unsigned int count_lines(const char *text)
{
	unsigned int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void print_head(const struct view *v, const struct flame *f, FILE *out)
{
	const struct profile *p = v->profile;

	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"30\">", MARGIN);
	if (p->sources.count) {
		const char *name = text_base_name(p->sources.items[0].header.program);

		print_escaped(out, name, strlen(name));
		if (p->sources.count > 1)
			fprintf(out, " and %zu more", p->sources.count - 1);
		fputs(": ", out);
	}
	if (v->has_change)
		fputs("what has changed: red has grown, blue has shrunk", out);
	else if (v->has_metric)
		print_escaped(out, p->metrics.items[v->metric].name, strlen(p->metrics.items[v->metric].name));
	else
		fputs("nothing was recorded", out);
	if (v->has_metric && p->metrics.items[v->metric].is_estimate)
		fputs(" (estimated)", out);
	fprintf(out, "</text>\n<text class=\"hint\" x=\"%d\" y=\"50\">width: share of ", MARGIN);
	if (v->has_metric)
		print_value(out, f->boxes[0].total, p->metrics.items[v->metric].unit);
	fprintf(out, " in %zu %s%s. Click to zoom, Ctrl+F to search.</text>\n", v->matching_rows,
		noun_of(v->matching_rows, "context", "contexts"), v->is_filtered ? " of the chosen functions" : "");
	fprintf(out,
		"<text id=\"reset\" class=\"button\" x=\"%d\" y=\"30\" text-anchor=\"end\" visibility=\"hidden\">"
		"Reset zoom</text>\n",
		WIDTH - MARGIN - 80);
	fprintf(out, "<text id=\"search\" class=\"button\" x=\"%d\" y=\"30\" text-anchor=\"end\">Search</text>\n",
		WIDTH - MARGIN);
	fprintf(out, "<text id=\"matched\" class=\"hint\" x=\"%d\" y=\"50\" text-anchor=\"end\"></text>\n",
		WIDTH - MARGIN);
	fprintf(out,
		"<foreignObject id=\"query\" x=\"%d\" y=\"12\" width=\"%d\" height=\"26\" visibility=\"hidden\"><input "
		"xmlns=\"http://www.w3.org/1999/xhtml\" id=\"pattern\" aria-label=\"a regular expression\" "
		"placeholder=\"a regular expression\"/></foreignObject>\n",
		WIDTH - MARGIN - QUERY, QUERY);
}

static void print_notes(const char *notes, unsigned int y, FILE *out)
{
	while (*notes) {
		size_t len = strcspn(notes, "\n");

		fprintf(out, "<text class=\"note\" x=\"%d\" y=\"%u\">", MARGIN, y);
		print_escaped(out, notes, len);
		fputs("</text>\n", out);
		notes += len + (notes[len] == '\n');
		y += NOTE;
	}
}

static void print_picture(const struct view *v, const struct flame *f, const char *notes, FILE *out)
{
	unsigned int bottom = HEAD + count_levels(f) * LEVEL;
	unsigned int height = bottom + FOOT + count_lines(notes) * NOTE + (f->deepest > DEPTH_MAX ? NOTE : 0);

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\">\n<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, height, WIDTH, height);
	fprintf(out, "<style>\n%s</style>\n", flame_css);
	print_head(v, f, out);
	if (v->has_metric)
		print_boxes(v, f, out);
	print_notes(notes, bottom + NOTE, out);
	if (f->deepest > DEPTH_MAX)
		fprintf(out,
			"<text class=\"note\" x=\"%d\" y=\"%u\">frames deeper than %d are not drawn, the deepest is at %" PRIu32
			"</text>\n",
			MARGIN, bottom + (count_lines(notes) + 1) * NOTE, DEPTH_MAX, f->deepest);
	fprintf(out, "<text id=\"producer\" class=\"hint\" x=\"%d\" y=\"%u\" text-anchor=\"end\">", WIDTH - MARGIN,
		height - 10);
	print_escaped(out, v->producer, strlen(v->producer));
	fputs("</text>\n", out);
	fprintf(out, "<script><![CDATA[\nconst WIDTH = %d, MARGIN = %d, CHAR = %.2f;\n%s]]></script>\n</svg>\n", WIDTH,
		MARGIN, CHAR_WIDTH, flame_js);
}

struct error *render_svg(const struct view *v, FILE *out)
{
	struct flame f;
	char *notes = NULL;
	struct error *err = flame_create(v, &f);

	if (err)
		return err;
	err = check_size(v, &f) ?: notes_text(v, "", &notes);
	if (!err)
		print_picture(v, &f, notes, out);
	free(notes);
	flame_deinit(&f);
	return err;
}
