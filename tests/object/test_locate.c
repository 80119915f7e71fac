/*
 * test_locate.c - the order in which files are looked at, as object/locate.h lists it, and that a search ends with the right file.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/locate.h"

enum {
	TEXT_BYTES = 8192,
};

static char top[] = "/tmp/test_locate.XXXXXX";

/* What was looked at: names under `top`, a blank behind each. */
struct seen {
	char text[TEXT_BYTES];
	unsigned int left; /* files that are wrong before one is right */
};

static bool look(void *state, const char *path)
{
	struct seen *s = state;
	size_t len = strlen(s->text);

	if (strncmp(path, top, strlen(top)) == 0)
		path += strlen(top) + 1;
	snprintf(s->text + len, sizeof s->text - len, "%s ", path);
	return s->left-- == 0;
}

static char *under_top(const char *name)
{
	static char paths[8][256];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", top, name);
	return path;
}

/* With the directories on the way. */
static void make_file(const char *name)
{
	char *path = under_top(name);
	FILE *file;

	for (char *slash = path + strlen(top) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (CHECK(file != NULL))
		fclose(file);
}

static const char *const names[] = {
	"named",
	"dir/prog",
	"dir/.hidden",
	"dir/part.o",
	"dir/sub/prog",
	"more/other",
	"loaded/prog",
	"loaded/prog.dbg",
	"loaded/.debug/prog.dbg",
	"first/.build-id/a1/b2c3d4.debug",
	"first/.build-id/a1/b2c3d4",
	"second/.build-id/a1/b2c3d4.debug",
	"second/.build-id/a2/b2c3.debug",
	"second/.build-id/a2/ffff.debug",
	"second/prog.dbg",
	NULL,
};

static const struct build_id build_id = {{0xa1, 0xb2, 0xc3, 0xd4}, 4};

static struct object_search search;

static const char *seen_by(struct locate l, unsigned int wrong_files, bool want_found)
{
	static struct seen s;

	s = (struct seen){.left = wrong_files};
	l.search = &search;
	l.try = look;
	l.state = &s;
	CHECK(locate_file(&l) == want_found);
	return s.text;
}

static void test_order(void)
{
	const struct locate any = {
		.path = under_top("loaded/prog"), .build_id = build_id, .wants_program = true, .wants_debug = true};
	struct locate l = any;

	CHECK_TEXT(seen_by(any, 100, false),
		   "named no/such dir/prog dir/prog more/other loaded/prog first/.build-id/a1/b2c3d4.debug "
		   "first/.build-id/a1/b2c3d4 second/.build-id/a1/b2c3d4.debug ");
	CHECK_TEXT(seen_by(any, 0, true), "named ");
	CHECK_TEXT(seen_by(any, 2, true), "named no/such dir/prog ");
	CHECK_TEXT(seen_by(any, 6, true),
		   "named no/such dir/prog dir/prog more/other loaded/prog first/.build-id/a1/b2c3d4.debug ");
	l.wants_debug = false;
	CHECK_TEXT(seen_by(l, 100, false),
		   "named no/such dir/prog dir/prog more/other loaded/prog first/.build-id/a1/b2c3d4 ");
	l.wants_debug = true;
	l.wants_program = false;
	CHECK_TEXT(seen_by(l, 100, false), "named no/such dir more loaded/prog first/.build-id/a1/b2c3d4.debug "
					   "second/.build-id/a1/b2c3d4.debug ");
}

static void test_unknown(void)
{
	struct locate l = {.path = under_top("loaded/prog"), .wants_program = true, .is_by_name = true};

	CHECK_TEXT(seen_by(l, 100, false), "dir/prog loaded/prog ");
	l = (struct locate){.build_id = {{0xa2, 0xb2}, 2}, .is_partial = true, .wants_debug = true};
	CHECK_TEXT(seen_by(l, 100, false), "named no/such dir more second/.build-id/a2/b2c3.debug ");
	l.is_partial = false;
	CHECK_TEXT(seen_by(l, 100, false), "named no/such dir more ");
}

/* A live process: its root directory is another name of the same file. */
static void test_process(void)
{
	const struct locate_mapping mapping = {getpid(), 1, 2};
	const struct locate l = {.path = under_top("loaded/prog"), .mapping = &mapping};
	char want[TEXT_BYTES];

	object_search_deinit(&search);
	snprintf(want, sizeof want, "loaded/prog /proc/%d/root%s ", (int)getpid(), l.path);
	CHECK_TEXT(seen_by(l, 100, false), want);
}

static void test_debuglink(void)
{
	struct seen s = {.left = 100};
	const struct locate l = {.search = &search, .wants_debug = true, .try = look, .state = &s};

	CHECK(!locate_debuglink(&l, under_top("loaded/prog"), "prog.dbg"));
	CHECK_TEXT(s.text, "loaded/prog.dbg loaded/.debug/prog.dbg second/prog.dbg ");
	CHECK(!locate_debuglink(&l, under_top("loaded/prog"), "../loaded/prog.dbg"));
	CHECK_TEXT(s.text, "loaded/prog.dbg loaded/.debug/prog.dbg second/prog.dbg ");
	s = (struct seen){.left = 1};
	CHECK(locate_debuglink(&l, under_top("loaded/prog"), "prog.dbg"));
	CHECK_TEXT(s.text, "loaded/prog.dbg loaded/.debug/prog.dbg ");
}

/* In place of /usr/lib/debug, for our own search and for that of elfutils. */
static void test_system(void)
{
	const struct locate l = {.build_id = build_id, .wants_debug = true};
	const char *dir = under_top("second"), *path;

	setenv("WAYMARK_DEBUG_DIR", dir, 1);
	CHECK_TEXT(seen_by(l, 100, false), "second/.build-id/a1/b2c3d4.debug ");
	path = *locate_debuginfo_path();
	CHECK(path && strncmp(path, ":.debug:", 8) == 0 && strcmp(path + 8, dir) == 0);
}

static void add_names(void)
{
	for (size_t i = 0; names[i]; i++)
		make_file(names[i]);
	CHECK_OK(object_search_add_exe(&search, under_top("named")));
	CHECK_OK(object_search_add_exe(&search, under_top("no/such")));
	CHECK_OK(object_search_add_exe(&search, under_top("dir")));
	CHECK_OK(object_search_add_exe(&search, under_top("more")));
	CHECK_OK(object_search_add_debug_dir(&search, under_top("first")));
	CHECK_OK(object_search_add_debug_dir(&search, under_top("second")));
}

int main(void)
{
	char command[sizeof top + sizeof "rm -r "];

	if (!CHECK(mkdtemp(top) != NULL))
		return check_status();
	add_names();
	test_order();
	test_unknown();
	test_debuglink();
	test_process();
	test_system();
	snprintf(command, sizeof command, "rm -r %s", top);
	CHECK(system(command) == 0);
	return check_status();
}
