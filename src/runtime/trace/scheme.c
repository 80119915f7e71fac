/*
 * scheme.c - chooses the schemes of traced functions when an image starts: WAYMARK_SCHEME. An archive of its own,
 * libwaymark-trace.a, which a traced program or shared library has a copy of each; nothing else of the runtime is needed, and
 * of libc only mem* and str*.
 *
 * It runs before the image's own code, so before there are threads. Either all rules are right or none has an effect. Not for
 * set-user-ID programs (AT_SECURE): their environment is not to be believed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/scheme.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "waymark/trace.h"

enum {
	FILE_BYTES_MAX = 1 << 20,
};

/* One for the process as far as the linker lets it be: the program and each library read the same rules. Not atomic: written
 * by constructors, which run one after the other. */
__attribute__((weak, visibility("default"))) unsigned char wm1_trace_said;

static void say(struct wmrt_text *text)
{
	if (wm1_trace_said)
		return;
	wm1_trace_said = 1;
	wmrt_text_char(text, '\n');
	if (!wmrt_text_fits(text)) {
		text->len = text->size;
		text->data[text->size - 1] = '\n';
	}
	wmrt_sys3(SYS_write, STDERR_FILENO, (long)text->data, (long)text->len);
}

static void say_problem(const char *what, const char *at)
{
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: WAYMARK_SCHEME: ");
	wmrt_text_add(&text, what);
	wmrt_text_add(&text, " at \"");
	for (int i = 0; i < 40 && *at && *at != '\n'; i++)
		wmrt_text_char(&text, *at++);
	wmrt_text_add(&text, "\"; nothing is chosen");
	say(&text);
}

static const char *find_variable(const char *name)
{
	size_t len = strlen(name);

	for (char **at = environ; at && *at; at++)
		if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
			return *at + len + 1;
	return NULL;
}

static char *map_text(void)
{
	long at =
		wmrt_sys6(SYS_mmap, 0, FILE_BYTES_MAX + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at < 0 && at > -4096 ? NULL : (char *)at;
}

static void unmap_text(char *text)
{
	if (text)
		wmrt_sys3(SYS_munmap, (long)text, FILE_BYTES_MAX + 1, 0);
}

/* The file's text, in memory of its own that stays zero behind it; NULL when it cannot be had. */
static char *read_text(const char *path)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0, 0, 0);
	char *text = fd >= 0 ? map_text() : NULL;
	long len = 0, got = 1;

	while (text && got > 0 && len <= FILE_BYTES_MAX) {
		got = wmrt_sys3(SYS_read, fd, (long)(text + len), FILE_BYTES_MAX + 1 - len);
		len += got > 0 ? got : 0;
	}
	if (text && (got < 0 || len > FILE_BYTES_MAX)) {
		unmap_text(text);
		text = NULL;
	}
	if (fd >= 0)
		wmrt_sys3(SYS_close, fd, 0, 0);
	return text;
}

static bool check_rules(const char *text)
{
	struct scheme_problem problem;
	struct scheme_rule rule;

	while (scheme_next_rule(&text, &rule, &problem)) {
		if (rule.count > 1) {
			say_problem("one scheme for a pattern is chosen, not several", rule.glob);
			return false;
		}
	}
	if (problem.what)
		say_problem(problem.what, problem.at);
	return !problem.what;
}

static const char *text_at(const int32_t *field)
{
	return (const char *)field + *field;
}

/* The scheme of the first rule that is for t; false: none is. */
static bool find_scheme(const char *text, const struct wm1_tunable *t, uint8_t *ret)
{
	struct scheme_problem problem;
	struct scheme_rule rule;

	while (scheme_next_rule(&text, &rule, &problem)) {
		if (scheme_rule_matches(&rule, text_at(&t->name), text_at(&t->plain), text_at(&t->file))) {
			*ret = rule.schemes[0];
			return true;
		}
	}
	return false;
}

static bool choose(const struct wm1_tunable *t, uint8_t scheme)
{
	for (uint8_t i = 0; i < t->count && i < sizeof t->schemes; i++) {
		if (t->schemes[i] == scheme) {
			*((uint8_t *)(uintptr_t)&t->chosen + t->chosen) = i;
			return true;
		}
	}
	return false;
}

static void say_missing(const struct wm1_tunable *t, uint8_t scheme, uint64_t count)
{
	char line[1024];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: WAYMARK_SCHEME: function ");
	wmrt_text_add(&text, text_at(&t->name));
	wmrt_text_add(&text, " has no scheme ");
	wmrt_text_add(&text, scheme_name(scheme));
	wmrt_text_add(&text, " compiled in");
	if (count > 1) {
		wmrt_text_add(&text, ", nor has another one of ");
		wmrt_text_number(&text, count - 1, 10, 1);
	}
	wmrt_text_add(&text, "; it stays as it is");
	say(&text);
}

void wm1_trace_choose(const struct wm1_tunable *first, const struct wm1_tunable *end)
{
	const char *rules = find_variable("WAYMARK_SCHEME");
	const struct wm1_tunable *missing = NULL;
	uint64_t missing_count = 0;
	uint8_t scheme = 0, missing_scheme = 0;
	char *file = NULL;

	if (!rules || getauxval(AT_SECURE))
		return;
	if (*rules == '@') {
		file = read_text(rules + 1);
		if (!file)
			say_problem("rules cannot be read", rules);
		rules = file;
	}
	if (!rules || !check_rules(rules))
		end = first;
	for (const struct wm1_tunable *t = first; t < end; t++) {
		if (!find_scheme(rules, t, &scheme) || choose(t, scheme))
			continue;
		if (!missing_count++) {
			missing = t;
			missing_scheme = scheme;
		}
	}
	if (missing)
		say_missing(missing, missing_scheme, missing_count);
	unmap_text(file);
}
