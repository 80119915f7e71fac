/*
 * config.c - reads WAYMARK_OUT and WAYMARK_LIMIT, makes file names.
 *
 * Relative places are taken from the directory the program was started in, so that a daemon's chdir("/") does not
 * move its file. In a program that gained privileges (AT_SECURE) nothing is recorded: its environment is not to be
 * believed. Nor with WAYMARK_OUT=/dev/null, which is how one says so.
 */
#include "recorder/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "recorder/labels.h"
#include "recorder/new_file.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/text.h"

static _Alignas(64) struct wmrt_config config;
static _Atomic bool is_read;

static const uint64_t DEFAULT_LIMIT_BYTES = UINT64_C(4) << 30;
static const uint64_t DEFAULT_RECENT_BYTES = UINT64_C(64) << 20;

/* The number with suffix K, M or G; 0 if it is none. */
static uint64_t parse_size(const char *s)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	if (*s < '0' || *s > '9')
		return 0;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *s - '0', &value))
			return UINT64_MAX;
	if (*s == 'K' || *s == 'k')
		shift = 10;
	else if (*s == 'M' || *s == 'm')
		shift = 20;
	else if (*s == 'G' || *s == 'g')
		shift = 30;
	if (*s && (!shift || s[1]))
		return 0;
	return value > (UINT64_MAX >> shift) ? UINT64_MAX : value << shift;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file at that path, as /proc names it, without a NUL; > 0: how long that is. */
static long read_path_of(const char *path, char *to, size_t size)
{
	char link[40];
	struct wmrt_text text = {link, sizeof link, 0};
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC, 0, 0, 0);
	long n;

	if (fd < 0)
		return fd;
	wmrt_text_add(&text, "/proc/self/fd/");
	wmrt_text_number(&text, (uint64_t)fd, 10, 1);
	n = wmrt_sys3(SYS_readlink, (long)link, (long)to, (long)size);
	wmrt_sys3(SYS_close, fd, 0, 0);
	return n;
}

/* The name that the program was started by, if that leads to the program itself, not to a script or an open file. */
static void read_name(void)
{
	const char *given = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
	struct wmrt_text text = {config.name, sizeof config.name, 0};
	char real[sizeof config.program];
	bool is_path = given && strncmp(given, "/dev/fd/", 8) != 0 && strncmp(given, "/proc/", 6) != 0;
	long n = is_path ? read_path_of(given, real, sizeof real - 1) : -1;

	if (n > 0)
		real[n] = '\0';
	wmrt_text_add(&text, base_name(n > 0 && strcmp(real, config.program) == 0 ? given : config.program));
}

/* The kernel knows what it has executed. Where that is the dynamic linker (no interpreter was loaded for it), that says what it was given. */
static void read_program(void)
{
	const char *given = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
	long n = getauxval(AT_BASE) || !given ? -1 : read_path_of(given, config.program, sizeof config.program - 1);
	struct wmrt_text text = {config.program, sizeof config.program, 0};

	if (n <= 0)
		n = wmrt_sys3(SYS_readlink, (long)"/proc/self/exe", (long)config.program, sizeof config.program - 1);
	if (n > 0)
		config.program[n] = '\0';
	else
		wmrt_text_add(&text, program_invocation_name ? program_invocation_name : "unknown");
}

static bool is_of_type(const char *path, mode_t type)
{
	struct stat st;

	return wmrt_sys6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) == 0 &&
	       (st.st_mode & S_IFMT) == type;
}

/* A name that exists is no pattern. */
static void add_literally(struct wmrt_text *text, const char *name)
{
	for (; *name; name++) {
		if (*name == '%')
			wmrt_text_char(text, '%');
		wmrt_text_char(text, *name);
	}
}

/* The pattern for WAYMARK_OUT=out, NULL when it is not set. */
static void make_pattern(const char *out)
{
	struct wmrt_text text = {config.pattern, sizeof config.pattern, 0};
	bool is_dir = out && is_of_type(out, S_IFDIR);
	bool is_place = !out || !*out || is_dir || out[strlen(out) - 1] == '/';

	if (!out || out[0] != '/') {
		char cwd[WMRT_PATH_BYTES];

		if (wmrt_sys3(SYS_getcwd, (long)cwd, sizeof cwd, 0) <= 0 || cwd[0] != '/') {
			config.is_off = true;
			return;
		}
		add_literally(&text, cwd);
		wmrt_text_char(&text, '/');
	}
	if (is_dir)
		add_literally(&text, out);
	else if (out)
		wmrt_text_add(&text, out);
	if (is_place)
		wmrt_text_add(&text,
			      out && *out && out[strlen(out) - 1] != '/' ? "/waymark-%e-%p.wmk" : "waymark-%e-%p.wmk");
	if (!wmrt_text_fits(&text))
		config.is_off = true;
}

const char *wmrt_config_rank(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
					    "SLURM_PROCID"};
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names && !rank; i++)
		rank = getenv(names[i]);
	return rank && *rank ? rank : NULL;
}

/* A value names no directory, and is no pattern. */
static void add_value(struct wmrt_text *text, const char *s)
{
	for (; s && *s; s++) {
		if (*s == '%')
			wmrt_text_char(text, '%');
		wmrt_text_char(text, *s == '/' ? '_' : *s);
	}
}

/* %q{VARIABLE}: s is behind the brace. Returns where the closing one is, or the end. */
static const char *add_variable(struct wmrt_text *text, const char *s)
{
	char name[128] = "";
	struct wmrt_text variable = {name, sizeof name, 0};

	for (; *s && *s != '}'; s++)
		wmrt_text_char(&variable, *s);
	if (wmrt_text_fits(&variable))
		add_value(text, getenv(name));
	return *s ? s : s - 1;
}

/* Replaces in the pattern what stays the same for the life of the process: %h, %r and %q{VARIABLE}. False: too long. */
static bool expand_pattern(void)
{
	static char expanded[sizeof config.pattern];
	struct wmrt_text text = {expanded, sizeof expanded, 0};
	struct utsname names = {.nodename = ""};

	wmrt_sys3(SYS_uname, (long)&names, 0, 0);
	expanded[0] = '\0';
	for (const char *s = config.pattern; *s; s++) {
		if (*s == '%' && s[1] == 'h') {
			add_value(&text, names.nodename);
			s++;
		} else if (*s == '%' && s[1] == 'r') {
			add_value(&text, wmrt_config_rank());
			s++;
		} else if (*s == '%' && s[1] == 'q' && s[2] == '{') {
			s = add_variable(&text, s + 3);
		} else {
			wmrt_text_char(&text, *s);
			if (*s == '%' && s[1])
				wmrt_text_char(&text, *++s);
		}
	}
	memcpy(config.pattern, expanded, sizeof expanded);
	return wmrt_text_fits(&text);
}

/* At most half of what there is: contexts need the other one. */
static void set_recent(const char *recent)
{
	config.recent_bytes = recent ? parse_size(recent) : 0;
	if (!config.recent_bytes)
		config.recent_bytes = DEFAULT_RECENT_BYTES;
	if (config.recent_bytes > config.limit_bytes / 2)
		config.recent_bytes = config.limit_bytes / 2;
}

static bool is_yes(const char *text)
{
	return text && strcmp(text, "1") == 0;
}

static void read_config(void)
{
	const char *out = getenv("WAYMARK_OUT");
	const char *limit = getenv("WAYMARK_LIMIT");

	config.is_off = getauxval(AT_SECURE) != 0 || (out && is_of_type(out, S_IFCHR));
	config.is_out_set = out && *out && !config.is_off;
	config.limit_bytes = limit ? parse_size(limit) : 0;
	if (limit && *limit && !config.limit_bytes && !config.is_off)
		config.bad_limit = limit;
	if (!config.limit_bytes)
		config.limit_bytes = DEFAULT_LIMIT_BYTES;
	set_recent(getenv("WAYMARK_RECENT"));
	config.tells_leaks = is_yes(getenv("WAYMARK_LEAKS"));
	read_program();
	read_name();
	make_pattern(config.is_out_set ? out : NULL);
	config.is_off |= !config.is_off && !expand_pattern();
	if (!config.is_off)
		wmrt_labels_collect(config.labels, config.name, wmrt_config_rank());
	if (!config.is_off)
		wmrt_run_start();
}

const struct wmrt_config *wmrt_config(void)
{
	struct wmrt_guard guard;

	if (!atomic_load_explicit(&is_read, memory_order_acquire)) {
		wmrt_lock(&guard);
		if (!atomic_load(&is_read))
			read_config();
		atomic_store_explicit(&is_read, true, memory_order_release);
		wmrt_unlock(&guard);
	}
	return &config;
}

void wmrt_config_set(const char *pattern, uint64_t limit_bytes)
{
	struct wmrt_text text = {config.pattern, sizeof config.pattern, 0};
	struct wmrt_guard guard;

	wmrt_config();
	wmrt_lock(&guard);
	wmrt_text_add(&text, pattern);
	config.is_out_set = true;
	config.is_off = getauxval(AT_SECURE) != 0 || !wmrt_text_fits(&text) || !expand_pattern();
	if (limit_bytes)
		config.limit_bytes = limit_bytes;
	wmrt_unlock(&guard);
}

bool wmrt_config_path(uint32_t pid, unsigned int attempt, char *path, size_t size)
{
	struct wmrt_text text = {path, size, 0};
	static const char suffix[] = ".wmk";
	const char *s = config.pattern;
	const char *end = s + strlen(s);

	if (end - s > 4 && strcmp(end - 4, suffix) == 0)
		end -= 4;
	for (; s < end; s++) {
		if (*s != '%' || s + 1 == end)
			wmrt_text_char(&text, *s);
		else if (*++s == 'e')
			wmrt_text_add(&text, config.name);
		else if (*s == 'p')
			wmrt_text_number(&text, pid, 10, 1);
		else
			wmrt_text_char(&text, *s);
	}
	if (attempt) {
		wmrt_text_char(&text, '.');
		wmrt_text_number(&text, attempt, 10, 1);
	}
	wmrt_text_add(&text, end);
	return wmrt_text_fits(&text);
}

/* 0 if a file can be made there, else -errno. Leaves none behind. */
static int try_place(const char *dir, const char *path)
{
	char temp[WMRT_PATH_BYTES + WMRT_NEW_FILE_SUFFIX_BYTES];
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600, 0, 0);

	/* Not every file system has nameless files. */
	if (fd == -EOPNOTSUPP || fd == -EISDIR || fd == -EINVAL) {
		fd = wmrt_new_file(path, 0600, temp, sizeof temp);
		if (fd >= 0)
			wmrt_sys3(SYS_unlink, (long)temp, 0, 0);
	}
	if (fd >= 0)
		wmrt_sys3(SYS_close, fd, 0, 0);
	return fd >= 0 ? 0 : (int)fd;
}

int wmrt_config_check(void)
{
	char path[WMRT_PATH_BYTES];
	char dir[WMRT_PATH_BYTES];
	char *slash;

	if (config.is_off || !wmrt_config_path(wmrt_getpid(), 0, path, sizeof path))
		return -ENAMETOOLONG;
	strcpy(dir, path);
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	return try_place(dir, path);
}
