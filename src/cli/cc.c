/*
 * cc.c - `waymark cc` and `waymark c++`: clang with the flags that instrument, added around the user's own.
 *
 * Objects are compiled with -ffat-lto-objects: machine code as ever and bitcode beside it, so that ar, nm, ranlib, strip and
 * other linkers see ordinary objects. Linking goes through lld, which takes the bitcode, and runs the pass at the end of
 * full LTO. All that is the user's is handed on untouched; exit status and diagnostics are clang's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/merged_object.h"
#include "cli/own_files.h"
#include "cli/version_script.h"

VEC_DECLARE(argument_vec, char *);

/* What the command line asks for, as far as it matters here. */
struct request {
	bool has_input;
	bool links; /* no -c, -S, -E … */
	bool is_shared;
	bool is_static;
	bool is_relocatable; /* -r */
	bool is_plain;       /* nothing to instrument: other target, --wm=none, only a question */
	bool no_lto;
	bool emits_llvm;
	bool has_debug_info;
	bool no_libc; /* -nostdlib and no -lc: there may be no thread-local storage */
	bool names_libc;
	const char *output;
};

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool equals_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(text, *list))
			return true;
	return false;
}

/* Options whose value is the next word. */
static bool takes_value(const char *option)
{
	static const char *const list[] = {"-x",
					   "-I",
					   "-D",
					   "-U",
					   "-L",
					   "-l",
					   "-include",
					   "-imacros",
					   "-isystem",
					   "-iquote",
					   "-idirafter",
					   "-isysroot",
					   "-iprefix",
					   "-iwithprefix",
					   "-iwithprefixbefore",
					   "-MF",
					   "-MT",
					   "-MQ",
					   "-MJ",
					   "-Xlinker",
					   "-Xclang",
					   "-Xassembler",
					   "-Xpreprocessor",
					   "-T",
					   "-u",
					   "-z",
					   "-e",
					   "-B",
					   "-mllvm",
					   "-A",
					   "-G",
					   "-aux-info",
					   "--param",
					   "-arch",
					   "-F",
					   "--sysroot",
					   "-dumpdir",
					   "-serialize-diagnostics",
					   "-Xanalyzer",
					   "-include-pch",
					   "-rpath",
					   NULL};
	return equals_any(option, list);
}

/* -g that asks for debug info; -g0 and -gz do not. */
static bool is_debug_option(const char *option)
{
	static const char *const other[] = {"-g0", "-ggdb0", "-gsplit-dwarf", "-gz", "-gno-record-gcc-switches", NULL};
	if (!starts(option, "-g") || equals_any(option, other) || starts(option, "-gz=") || starts(option, "-gno-") ||
	    starts(option, "-gcc-") || starts(option, "-gdwarf-aranges"))
		return false;
	return true;
}

static bool is_other_target(const char *option, const char *value)
{
	const char *target = NULL;
	if (starts(option, "--target="))
		target = option + strlen("--target=");
	else if (!strcmp(option, "-target"))
		target = value;
	return !strcmp(option, "-m32") || !strcmp(option, "-mx32") || !strcmp(option, "-m16") ||
	       (target && !starts(target, "x86_64"));
}

static void note_mode(struct request *r, const char *option)
{
	static const char *const compile_only[] = {"-c",        "-S",         "-E",
						   "-M",        "-MM",        "-fsyntax-only",
						   "--compile", "--assemble", "--preprocess",
						   "-emit-ast", NULL};
	static const char *const questions[] = {"--version", "-dumpversion", "-dumpmachine", "--help", "-help", NULL};
	if (equals_any(option, compile_only))
		r->links = false;
	else if (equals_any(option, questions) || starts(option, "-print-") || starts(option, "--print-"))
		r->is_plain = true;
	else if (!strcmp(option, "-shared") || !strcmp(option, "--shared"))
		r->is_shared = true;
	else if (!strcmp(option, "-static") || !strcmp(option, "--static") || !strcmp(option, "-static-pie"))
		r->is_static = true;
	else if (!strcmp(option, "-r"))
		r->is_relocatable = true;
	else if (!strcmp(option, "-emit-llvm"))
		r->emits_llvm = true;
	else if (!strcmp(option, "-fno-lto"))
		r->no_lto = true;
	else if (starts(option, "-flto"))
		r->no_lto = false;
	else if (!strcmp(option, "-nostdlib") || !strcmp(option, "-nodefaultlibs") || !strcmp(option, "-nolibc"))
		r->no_libc = true;
	else if (is_debug_option(option))
		r->has_debug_info = true;
	else if (!strcmp(option, "-g0") || !strcmp(option, "-ggdb0"))
		r->has_debug_info = false;
}

static void analyse(struct request *r, char *const *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *a = arguments[i];
		const char *value = i + 1 < count ? arguments[i + 1] : NULL;
		if (a[0] != '-' || !a[1]) {
			r->has_input = true;
			continue;
		}
		if (is_other_target(a, value))
			r->is_plain = true;
		if (!strcmp(a, "-lc") || (!strcmp(a, "-l") && value && !strcmp(value, "c")))
			r->names_libc = true;
		if (!strcmp(a, "-o")) {
			r->output = value;
			i++;
		} else if (starts(a, "-o") && a[2] && !starts(a, "-object")) {
			r->output = a + 2;
		} else if (!strcmp(a, "-target") || takes_value(a)) {
			r->has_input |= !strcmp(a, "-l");
			i++;
		} else {
			r->has_input |= starts(a, "-l");
			note_mode(r, a);
		}
	}
}

/* One command line under construction; the first failure is kept. */
struct line {
	struct argument_vec words;
	struct error *err;
};

static void add(struct line *line, char *word)
{
	if (!line->err && !word)
		line->err = &error_no_memory;
	if (!line->err)
		line->err = argument_vec_append(&line->words, word);
	if (line->err)
		free(word);
}

static void line_deinit(struct line *line)
{
	for (size_t i = 0; i < line->words.count; i++)
		free(line->words.items[i]);
	argument_vec_deinit(&line->words);
}

static void add_text(struct line *line, const char *text)
{
	add(line, strdup(text));
}

__attribute__((format(printf, 2, 3))) static void add_format(struct line *line, const char *format, ...)
{
	char *word = NULL;
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&word, format, ap) < 0)
		word = NULL;
	va_end(ap);
	add(line, word);
}

static void add_compile_flags(struct line *line, const struct request *r, const struct own_files *paths)
{
	add_text(line, "-D__WAYMARK__=1");
	add_text(line, "-idirafter");
	add_text(line, paths->include_dir);
	if (!r->has_debug_info) {
		add_text(line, "-gline-tables-only");
		add_text(line, "-gdwarf-4");
		add_text(line, "-fdebug-info-for-profiling"); /* linkage names of inlined functions */
	}
	if (!r->no_lto && !r->emits_llvm) {
		add_text(line, "-flto=full");
		add_text(line, "-ffat-lto-objects");
	}
}

/* What other objects of the process must find in the program. The file has a symbol a line; *ret, malloc'd, has "a;b;". */
static struct error *read_exports(const struct own_files *paths, char **ret)
{
	char path[PATH_MAX];
	char text[4096];
	snprintf(path, sizeof path, "%s/exports.txt", paths->runtime_dir);
	FILE *file = fopen(path, "re");
	if (!file)
		return error_os(errno, "%s: cannot read it; build or install Waymark as a whole", path);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	for (char *c = text; (c = strchr(c, '\n'));)
		*c = ';';
	*ret = strdup(text);
	return *ret ? NULL : &error_no_memory;
}

static void add_exports(struct line *line, const char *exports)
{
	while (*exports) {
		int len = (int)strcspn(exports, ";");
		if (len)
			add_format(line, "-Wl,--export-dynamic-symbol=%.*s", len, exports);
		exports += len + (exports[len] == ';');
	}
}

/* A shared library may come after libc in the process's symbol order: it calls the runtime's interposers by second names. */
static void add_wraps(struct line *line, const char *exports)
{
	static const char prefix[] = "__wrap_";
	while (*exports) {
		int len = (int)strcspn(exports, ";");
		int skip = (int)strlen(prefix);
		if (starts(exports, prefix))
			add_format(line, "-Wl,--wrap=%.*s", len - skip, exports + skip);
		exports += len + (exports[len] == ';');
	}
}

static void add_link_flags(struct line *line, const struct request *r, const struct own_files *paths,
			   const char *exports)
{
	add_text(line, "-fuse-ld=lld");
	if (r->is_relocatable || (r->no_libc && !r->is_shared && !r->names_libc))
		return;
	add_text(line, "-flto=full");
	add_text(line, "-ffat-lto-objects");
	add_text(line, "-Wl,--build-id");
	add_text(line, "-Wl,-u,__ehdr_start"); /* the image's descriptor refers to it, but only after LTO */
	/* LLVM 19 crashes there on a program with an ifunc; later passes find the same. */
	add_text(line, "-Wl,-mllvm,-compute-dead=false,-mllvm,-propagate-attrs=false");
	add_format(line, "-Wl,--load-pass-plugin=%s", paths->plugin);
	if (r->is_shared) {
		add_format(line, "-Wl,--push-state,--as-needed,%s/libwaymark-rt.so,--pop-state", paths->runtime_dir);
		add_format(line, "-Wl,--enable-new-dtags,-rpath,%s", paths->runtime_dir);
		add_wraps(line, exports);
	} else {
		add_format(line, "-Wl,--push-state,--whole-archive,%s/libwaymark-rt.a,--pop-state", paths->runtime_dir);
		if (r->is_static) /* what the runtime stands in front of, by libc.a's inner names */
			add_text(line, "-Wl,-u,__makecontext,-u,__swapcontext");
		add_exports(line, exports);
	}
}

/* The linker's pass reads these: the name for messages, and which thread-local model fits. */
static void set_link_environment(const struct request *r)
{
	setenv("WAYMARK_LINK_OUTPUT", r->output ? r->output : "a.out", 1);
	setenv("WAYMARK_LINK_KIND", r->is_shared ? "shared" : "program", 1);
}

static bool links_program(const struct request *r)
{
	return r->links && !r->is_shared && !r->is_relocatable;
}

/* The user's own words; a program's version scripts let the runtime's symbols through, objects merged by ld -r lose their
 * bitcode. */
static void add_user_words(struct line *line, const struct request *r, char **user, int count, const char *exports)
{
	struct version_scripts scripts = {.exports = exports};
	for (int i = 0; i < count && !line->err; i++) {
		char *other = NULL;
		if (starts(user[i], "--wm="))
			continue;
		if (links_program(r))
			line->err = version_scripts_word(&scripts, user[i], &other);
		if (!line->err && !other && r->links && !(i && !strcmp(user[i - 1], "-o")))
			line->err = merged_object_replace(user[i], &other);
		add(line, other ? other : strdup(user[i]));
	}
}

static struct error *build_line(struct line *line, const struct request *r, char **user, int count)
{
	struct own_files paths;
	char *exports = NULL;
	struct error *err = own_files_find(&paths);
	if (err)
		return err;
	err = read_exports(&paths, &exports);
	if (err) {
		own_files_deinit(&paths);
		return err;
	}
	add_user_words(line, r, user, count, exports);
	/* What a step does not use is no reason for a warning. */
	add_text(line, "--start-no-unused-arguments");
	add_compile_flags(line, r, &paths);
	if (r->links)
		add_link_flags(line, r, &paths, exports);
	add_text(line, "--end-no-unused-arguments");
	own_files_deinit(&paths);
	free(exports);
	return line->err;
}

/* --wm=contexts (the default) or --wm=none. */
static struct error *read_own_options(char **user, int count, struct request *r)
{
	for (int i = 0; i < count; i++) {
		if (!starts(user[i], "--wm="))
			continue;
		const char *what = user[i] + strlen("--wm=");
		if (!strcmp(what, "none"))
			r->is_plain = true;
		else if (strcmp(what, "contexts"))
			return error_create(ERROR_ARGUMENT, "--wm=%s: not known; use contexts or none", what);
	}
	return NULL;
}

static struct error *prepare(char **user, int count, struct line *line)
{
	struct request r = {.links = true};
	struct arguments expanded;
	struct error *err = arguments_expand(user, (size_t)count, &expanded);
	if (err)
		return err;
	analyse(&r, expanded.words.items, expanded.words.count);
	err = read_own_options(user, count, &r);
	if (!err && (r.is_plain || !r.has_input)) {
		for (int i = 0; i < count; i++)
			if (!starts(user[i], "--wm="))
				add_text(line, user[i]);
		err = line->err;
	} else if (!err) {
		if (r.links)
			set_link_environment(&r);
		err = build_line(line, &r, user, count);
	}
	arguments_deinit(&expanded);
	return err;
}

/* A clang of the user's choice must be the one the pass is made for. */
static struct error *check_version(const char *clang)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return error_os(errno, "%s: cannot ask for its version", clang);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execlp(clang, clang, "-dumpversion", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	char version[32] = "";
	ssize_t got = read(ends[0], version, sizeof version - 1);
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	version[strcspn(version, "\n")] = '\0';
	if (got <= 0)
		return error_create(ERROR_NOT_FOUND,
				    "%s: cannot run it; WAYMARK_CC and WAYMARK_CXX must name a clang 19", clang);
	if (strncmp(version, "19.", 3))
		return error_create(ERROR_MISMATCH, "%s: is clang %s; WAYMARK_CC and WAYMARK_CXX must name a clang 19",
				    clang, version);
	return NULL;
}

/* Ours first, then clang's own. */
static void print_help(bool is_cxx)
{
	printf("Usage: waymark %s [CLANG OPTIONS] FILE...\n"
	       "\n"
	       "Compiles and links as %s does; what it links keeps its exact calling context (wm_capture, wm_event,\n"
	       "waymark run --heap). Use it as the compiler: ./configure CC=\"waymark cc\", or waymark-%s where one word is wanted.\n"
	       "\n"
	       "  --wm=contexts   instrument (the default)\n"
	       "  --wm=none       only run clang\n"
	       "\n"
	       "WAYMARK_CC and WAYMARK_CXX name another clang 19. The options of clang follow.\n\n",
	       is_cxx ? "c++" : "cc", is_cxx ? "clang++" : "clang", is_cxx ? "c++" : "cc");
	fflush(stdout);
}

int command_cc(int argc, char **argv)
{
	bool is_cxx = strstr(argv[0], "c++") != NULL;
	if (argc == 2 && !strcmp(argv[1], "--help"))
		print_help(is_cxx);
	const char *override = getenv(is_cxx ? "WAYMARK_CXX" : "WAYMARK_CC");
	const char *clang = override ? override : is_cxx ? "clang++-19" : "clang-19";
	struct line line = {0};
	add_text(&line, clang);
	struct error *err = override ? check_version(clang) : NULL;
	if (!err)
		err = prepare(argv + 1, argc - 1, &line);
	if (!err)
		err = argument_vec_append(&line.words, NULL);
	if (!err) {
		execvp(clang, line.words.items);
		err = error_os(errno, "%s: cannot run it; install clang-19", clang);
	}
	fprintf(stderr, "waymark %s: %s\n", is_cxx ? "c++" : "cc", err->message);
	error_destroy(err);
	line_deinit(&line);
	return 1;
}
