/* path_reading.c - recordings into profiles of paths, and options of how they are shown. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/path_reading.h"
#include "model/contexts/recording.h"

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
	glob_vec_deinit(&r->globs);
	sources_deinit(&r->sources);
	image_cache_deinit(&r->cache);
}

static struct error *set_color(struct path_reading *r, const char *text)
{
	static const char *const names[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};

	for (enum path_color i = COLOR_AUTO; i <= COLOR_NEVER; i++) {
		if (strcmp(text, names[i]) == 0) {
			r->color = i;
			return NULL;
		}
	}
	return error_create(ERROR_ARGUMENT, "--color %s: must be auto, always or never", text);
}

struct error *path_reading_option(struct path_reading *r, int option)
{
	switch (option) {
	case OPTION_SOURCE_DIR:
		return sources_add_place(&r->sources, optarg);
	case OPTION_COLOR:
		return set_color(r, optarg);
	case OPTION_FULL:
		r->is_full = true;
		return NULL;
	default:
		return search_option(&r->cache.search, option, optarg);
	}
}

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
