/* path_reading.c - recordings into profiles of paths, and options of how they are shown. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/path_reading.h"
#include "model/base/recording.h"

enum {
	WIDTH_DEFAULT = 100, /* of what is no terminal */
	WIDTH_MIN = 60,
};

void path_reading_init(struct path_reading *r)
{
	*r = (struct path_reading){0};
	image_cache_init(&r->cache);
	sources_init(&r->sources);
}

void path_reading_deinit(struct path_reading *r)
{
	value_vec_deinit(&r->globs);
	sources_deinit(&r->sources);
	image_cache_deinit(&r->cache);
}

static const struct word colors[] = {
	[COLOR_AUTO] = {"auto", NULL},
	[COLOR_ALWAYS] = {"always", NULL},
	[COLOR_NEVER] = {"never", NULL},
	{0},
};
static const struct word_table color_words = {colors, sizeof *colors};

const struct option_row path_reading_options[] = {
	OPTIONS_OF(search_options, struct path_reading, cache.search),
	OPTIONS_OF(source_options, struct path_reading, sources),
	{.name = "color",
	 .argument = "=WHEN",
	 .help = "use colours: %s",
	 OPTION_WORD(struct path_reading, color, &color_words)},
	{.name = "full", .help = "show each line of each path", OPTION_FLAG(struct path_reading, is_full)},
	OPTIONS_END,
};

struct error *path_reading_add(struct path_profile *p, const char *path)
{
	struct recording r;
	struct error *err = recording_open(path, &r);

	if (err)
		return err;
	err = path_profile_add_file(p, &r.wmk);
	recording_close(&r);
	return err;
}

static unsigned int width_of(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WIDTH_DEFAULT;
	return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

struct path_style path_reading_style(struct path_reading *r, FILE *out)
{
	struct path_style style = {.sources = &r->sources, .is_full = r->is_full, .width = width_of(out)};

	style.is_coloured = r->color == COLOR_ALWAYS || (r->color == COLOR_AUTO && message_has_colour(out));
	return style;
}
