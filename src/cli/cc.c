/*
 * cc.c - `waymark cc` and `waymark c++`: clang with the flags that instrument, added around the user's own.
 *
 * For contexts, and for paths at the final stage, objects are compiled with -ffat-lto-objects: machine code as ever and
 * bitcode beside it, so that ar, nm, ranlib, strip and other linkers see ordinary objects. Where no plain linker can meet them
 * (one command compiles and links, the user says -flto) they are bitcode alone. Where the user asks for thin objects, or LLVM cannot
 * make machine code (some sanitizers, -fsanitize=cfi, -fvirtual-function-elimination), symbols stand beside the bitcode, and no
 * code. Linking goes through lld, which takes the bitcode, and runs the pass at
 * the end of full LTO. For paths at the source stage clang runs the pass, and objects are ordinary ones. All that is the user's
 * is handed on untouched; exit status and diagnostics are clang's.
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

#include "base/text.h"
#include "base/vec.h"
#include "cli/arguments.h"
#include "cli/cc_hybrid.h"
#include "cli/cc_options.h"
#include "cli/cc_request.h"
#include "cli/command.h"
#include "cli/link_inputs.h"
#include "cli/llvm_version.h"
#include "cli/message.h"
#include "cli/install_paths.h"
#include "cli/version_script.h"

VEC_DECLARE(argument_vec, char *);

struct job {
	const char *command; /* "cc" or "c++" */
	const struct cc_request *request;
	const struct cc_options *options;
};

/* The pass runs in this link. */
static bool has_pass_at_link(const struct job *job)
{
	return job->request->links && cc_options_at_link(job->options) && !job->request->no_lto;
}

/* One command line under construction; the first failure is kept. */
struct line {
	struct argument_vec words;
	struct error *err;
	char *hybrid_output; /* malloc'd: links a program with hybrid encoding, under this name; NULL: does not */
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
	free(line->hybrid_output);
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

static void add_source_flags(struct line *line, const struct job *job, const struct install_paths *files)
{
	add_format(line, "-fpass-plugin=%s", files->plugin);
	/* With optimization clang adds blocks in which lifetimes end: paths would differ between -O levels. */
	add_text(line, "-Xclang");
	add_text(line, "-disable-lifetime-markers");
	add_text(line,
		 "-fno-discard-value-names"); /* which branch is the true one in the source: blocks' names say so */
	add_text(line, "-Wno-error=backend-plugin"); /* the pass warns of functions that a plan does not fit */
	if (job->options->trace && job->options->traces_source) {
		/* As for the link. */
		static const char *const flags[] = {"-fbasic-block-address-map", "-mllvm", "-pgo-analysis-map=br-prob",
						    "-mllvm", "-enable-tail-merge=0"};
		for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
			add_text(line, flags[i]);
	}
}

/* The flags by which objects get bitcode; by the same ones the linker takes it. */
static void add_bitcode_flags(struct line *line, const struct job *job)
{
	add_text(line, "-flto=full");
	if (cc_request_object(job->request, job->options->thin_objects) != CC_OBJECT_BITCODE)
		add_text(line, "-ffat-lto-objects");
	else /* of fat objects that others have made the linker takes the bitcode all the same */
		add_text(line, "-Wl,--fat-lto-objects");
}

static void add_compile_flags(struct line *line, const struct job *job, const struct install_paths *files)
{
	const struct cc_request *r = job->request;
	if (cc_options_record(job->options)) /* else there is no runtime that the program could ask */
		add_text(line, "-D__WAYMARK__=1");
	add_text(line, "-idirafter");
	add_text(line, files->include_dir);
	if (!r->has_debug_info) {
		add_text(line, "-gline-tables-only");
		add_text(line, "-gdwarf-4");
		add_text(line, "-fdebug-info-for-profiling"); /* linkage names of inlined functions */
	}
	/* A program without the runtime cannot count: -nostdlib from source to program. */
	const bool at_source =
		cc_options_at_source(job->options) && (!r->links || r->is_relocatable || cc_request_links_runtime(r));
	if (at_source)
		add_source_flags(line, job, files);
	if (cc_options_at_link(job->options) && !r->no_lto && !r->emits_llvm) {
		if (!at_source) /* notes what is inlined, keeps some of it from being inlined */
			add_format(line, "-fpass-plugin=%s", files->plugin);
		add_bitcode_flags(line, job);
	}
}

/* Reads the symbols that other objects of the process must find in the program. The file has a symbol a line; *ret, malloc'd, has "a;b;". */
static struct error *read_exports(const struct install_paths *files, char **ret)
{
	char path[PATH_MAX];
	char text[4096];
	snprintf(path, sizeof path, "%s/exports.txt", files->runtime_dir);
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
		if (!strncmp(exports, prefix, strlen(prefix)))
			add_format(line, "-Wl,--wrap=%.*s", len - skip, exports + skip);
		exports += len + (exports[len] == ';');
	}
}

/* Runs the pass with sizes of frames. */
static bool is_hybrid_link(const struct job *job)
{
	return job->options->is_hybrid && job->options->contexts && has_pass_at_link(job) &&
	       cc_request_links_program(job->request) && cc_request_links_runtime(job->request);
}

static void add_lto_flags(struct line *line, const struct job *job, const struct install_paths *files)
{
	add_bitcode_flags(line, job);
	if (is_hybrid_link(job)) /* arguments that are pushed move the stack pointer from call to call */
		add_text(line, "-Wl,-mllvm,-no-x86-call-frame-opt");
	/* LLVM 19 crashes there on a program with an ifunc; later passes find the same. */
	add_text(line, "-Wl,-mllvm,-compute-dead=false,-mllvm,-propagate-attrs=false");
	add_format(line, "-Wl,--load-pass-plugin=%s", files->plugin);
}

/*
 * Into a program: what keeps contexts; and the rest, an object as of an archive, whose definitions are then in force. Libraries that the program loads
 * may capture by it, so that it is left out only where the user says so, and the program itself refers to nothing of it. What the pass refers to
 * later is asked for here.
 */
static void add_runtime(struct line *line, const struct job *job, const struct install_paths *files)
{
	if (!job->options->no_recorder)
		add_text(line, "-Wl,-u,wm1_recorder");
	if (job->options->paths)
		add_text(line, "-Wl,-u,wm1_path_enter");
	if (job->options->is_hybrid)
		add_text(line, "-Wl,-u,wm1_hybrid_main");
	add_format(line, "-Wl,%s/waymark-keep.o", files->runtime_dir);
	add_format(line, "-Wl,--start-lib,%s/waymark-rt.o,--end-lib", files->runtime_dir);
}

static void add_link_flags(struct line *line, const struct job *job, const struct install_paths *files,
			   const char *exports)
{
	const struct cc_request *r = job->request;
	add_text(line, "-fuse-ld=lld");
	if (job->options->trace) { /* also of a -flto that is the user's */
		add_text(line, "-Wl,--lto-basic-block-address-map,-mllvm,-pgo-analysis-map=br-prob");
		add_text(line, "-Wl,-mllvm,-enable-tail-merge=0");
	}
	if (!cc_request_links_runtime(r))
		return;
	add_text(line, "-Wl,--build-id");
	if (has_pass_at_link(job))
		add_lto_flags(line, job, files);
	if (job->options->trace)
		add_format(line, "-Wl,--push-state,--whole-archive,%s/libwaymark-trace.a,--pop-state",
			   files->runtime_dir);
	if (!cc_options_record(job->options))
		return;
	add_text(line, "-Wl,-u,__ehdr_start"); /* descriptors refer to it, those of images only after LTO */
	if (r->is_shared) {
		add_format(line, "-Wl,--push-state,--as-needed,%s/libwaymark-rt.so,--pop-state", files->runtime_dir);
		add_format(line, "-Wl,--enable-new-dtags,-rpath,%s", files->runtime_dir);
		add_wraps(line, exports);
	} else {
		add_runtime(line, job, files);
		if (r->is_static) /* what the runtime interposes, by libc.a's inner names */
			add_text(line, "-Wl,-u,__makecontext,-u,__swapcontext,-u,__pthread_create,-u,__thrd_create");
		add_exports(line, exports);
	}
}

/* The linker's pass reads these: the name for messages, and which thread-local model fits. */
static void set_link_environment(const struct cc_request *r)
{
	setenv("WAYMARK_LINK_OUTPUT", r->output ? r->output : "a.out", 1);
	setenv("WAYMARK_LINK_KIND", r->is_shared ? "shared" : "program", 1);
	if (r->is_shared && r->symbolic && !r->has_dynamic_list)
		setenv("WAYMARK_LINK_SYMBOLIC", r->symbolic, 1);
	else
		unsetenv("WAYMARK_LINK_SYMBOLIC");
}

/* The user's own words. A program's version scripts let the runtime's symbols through; bitcode that cannot be used is hidden. */
static void add_user_words(struct line *line, const struct job *job, const struct arguments *user, const char *exports,
			   struct link_inputs *inputs)
{
	struct version_scripts scripts = {.exports = exports};
	for (size_t i = 0; i < user->words.count && !line->err; i++) {
		const char *word = user->words.items[i];
		char *other = NULL;
		if (cc_options_is_own(word) || (job->request->links && text_begins(word, "--ld-path=")))
			continue;
		if (cc_request_links_program(job->request))
			line->err = version_scripts_word(&scripts, word, &other);
		if (!line->err && !other && has_pass_at_link(job))
			line->err = link_inputs_word(inputs, i, &other);
		add(line, other ? other : strdup(word));
	}
}

/* Names options of the user that a link with the pass ignores. */
static void say_what_differs(const struct job *job, const struct link_inputs *inputs)
{
	const struct cc_request *r = job->request;
	link_inputs_end(inputs);
	if (r->links && r->linker && !strstr(r->linker, "lld"))
		message_warn(job->command, "%s: linked with lld, the only linker that runs Waymark's pass", r->linker);
	if (has_pass_at_link(job) && r->is_relocatable && (inputs->has_bitcode || r->compiles))
		message_warn(job->command, "-r: %s has no bitcode: what is linked into it is not instrumented",
			     r->output ? r->output : "a.out");
}

/* For `waymark graph`. */
static void set_inputs_environment(const struct link_inputs *inputs)
{
	char text[32];
	snprintf(text, sizeof text, "%u %u", inputs->foreign_objects, inputs->foreign_members);
	setenv("WAYMARK_LINK_FOREIGN", text, 1);
}

/* Words that came out of an @file may be more than a command line holds: they go on in one. */
static void add_line(struct line *line, struct line *words, bool has_files)
{
	if (!line->err)
		line->err = words->err;
	if (!line->err && has_files) {
		char *file = NULL;
		line->err = arguments_write(words->words.items, words->words.count, &file);
		add(line, file);
	} else {
		for (size_t i = 0; i < words->words.count && !line->err; i++)
			add_text(line, words->words.items[i]);
	}
	line_deinit(words);
}

static struct error *build_line(struct line *line, const struct job *job, const struct arguments *user)
{
	struct install_paths files;
	struct line words = {0};
	char *exports = NULL;
	struct error *err = install_paths_find(&files);
	if (err)
		return err;
	err = read_exports(&files, &exports);
	if (err) {
		install_paths_deinit(&files);
		return err;
	}
	/* As for GNU ld, with which clang links otherwise. In front: the user's --no-undefined-version counts. */
	if (job->request->links)
		add_text(line, "-Wl,--undefined-version");
	struct link_inputs inputs = {.command = job->command, .words = user->words.items, .count = user->words.count};
	add_user_words(&words, job, user, exports, &inputs);
	say_what_differs(job, &inputs);
	set_inputs_environment(&inputs);
	add_line(line, &words, user->has_files);
	/* Options that a step does not use cause no warning. */
	add_text(line, "--start-no-unused-arguments");
	add_compile_flags(line, job, &files);
	if (job->request->links)
		add_link_flags(line, job, &files, exports);
	add_text(line, "--end-no-unused-arguments");
	install_paths_deinit(&files);
	free(exports);
	return line->err;
}

/* Only clang: another target, a question, --wm=none. <waymark.h> is found nevertheless. instruments: other calls do. */
static struct error *build_plain_line(struct line *line, const struct cc_request *r, const struct arguments *user,
				      bool instruments)
{
	struct line words = {0};
	cc_options_clear_environment();
	for (size_t i = 0; i < user->words.count; i++)
		if (!cc_options_is_own(user->words.items[i]))
			add_text(&words, user->words.items[i]);
	add_line(line, &words, user->has_files);
	if (!r->has_input) {
		if (r->asks_linker && instruments && !r->is_plain)
			add_text(line, "-fuse-ld=lld");
		return line->err;
	}
	struct install_paths files;
	struct error *err = install_paths_find(&files);
	if (err)
		return err;
	add_text(line, "--start-no-unused-arguments");
	add_text(line, "-idirafter");
	add_text(line, files.include_dir);
	add_text(line, "--end-no-unused-arguments");
	install_paths_deinit(&files);
	return line->err;
}

static struct error *prepare(const char *command, char **argv, int count, struct line *line)
{
	struct cc_request r;
	struct arguments user;
	struct error *err = arguments_expand(argv, (size_t)count, &user);
	if (err)
		return err;
	cc_request_read(user.words.items, user.words.count, &r);
	struct cc_options options = {0};
	err = cc_options_read(user.words.items, (int)user.words.count, &options);
	const bool instruments = cc_options_record(&options) || options.trace;
	if (!err && (r.is_plain || !r.has_input || !instruments)) {
		err = build_plain_line(line, &r, &user, instruments);
	} else if (!err) {
		cc_options_export(&options, &r);
		if (r.links)
			set_link_environment(&r);
		const struct job job = {command, &r, &options};
		err = build_line(line, &job, &user);
		if (!err && is_hybrid_link(&job)) {
			line->hybrid_output = strdup(r.output ? r.output : "a.out");
			err = line->hybrid_output ? NULL : &error_no_memory;
		}
	}
	cc_options_deinit(&options);
	arguments_deinit(&user);
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
				    "%s: cannot run it; WAYMARK_CC and WAYMARK_CXX must name a clang " WAYMARK_LLVM,
				    clang);
	if (strncmp(version, WAYMARK_LLVM ".", strlen(WAYMARK_LLVM ".")))
		return error_create(ERROR_MISMATCH,
				    "%s: is clang %s; WAYMARK_CC and WAYMARK_CXX must name a clang " WAYMARK_LLVM,
				    clang, version);
	return NULL;
}

static int run(const struct command *command, int argc, char **argv)
{
	bool is_cxx = command == &command_cxx;
	if (argc == 2 && !strcmp(argv[1], "--help") && options_help(command) != STATUS_OK) /* then clang's own */
		return STATUS_FAILED;
	const char *override = getenv(is_cxx ? "WAYMARK_CXX" : "WAYMARK_CC");
	const char *clang = override ? override : is_cxx ? "clang++-" WAYMARK_LLVM : "clang-" WAYMARK_LLVM;
	struct line line = {0};
	add_text(&line, clang);
	struct error *err = override ? check_version(clang) : NULL;
	if (!err)
		err = prepare(command->name, argv + 1, argc - 1, &line);
	if (!err)
		err = argument_vec_append(&line.words, NULL);
	if (!err && line.hybrid_output) {
		int status = cc_hybrid_link(command->name, line.words.items, line.hybrid_output);

		line_deinit(&line);
		return status;
	}
	if (!err) {
		execvp(clang, line.words.items);
		err = error_os(errno, "%s: cannot run it; install clang-" WAYMARK_LLVM, clang);
	}
	line_deinit(&line);
	return message_error(command->name, err);
}

static const char notes[] =
	"\nWAYMARK_CC and WAYMARK_CXX name another clang " WAYMARK_LLVM ". The options of clang follow.\n\n";

enum {
	HELP_COLUMN = 25,
};

const struct command command_cc = {
	.name = "cc",
	.summary = "compile and link C as clang does, with exact calling contexts",
	.usage = "Usage: waymark cc [CLANG OPTIONS] FILE...\n"
		 "\n"
		 "Compiles and links as clang does; what it links keeps its exact calling\n"
		 "context (wm_capture, wm_event, waymark run --heap), counts the paths that it\n"
		 "takes through its functions (waymark paths), or both. Use it as the compiler:\n"
		 "./configure CC=\"waymark cc\", or waymark-cc where one word is wanted.\n",
	.options = cc_option_rows,
	.notes = notes,
	.help_column = HELP_COLUMN,
	.operands = {{"file", COMPLETE_FILE, NULL, true}},
	.run = run,
};

const struct command command_cxx = {
	.name = "c++",
	.summary = "the same for C++",
	.usage = "Usage: waymark c++ [CLANG OPTIONS] FILE...\n"
		 "\n"
		 "Compiles and links as clang++ does; what it links keeps its exact calling\n"
		 "context (wm_capture, wm_event, waymark run --heap), counts the paths that it\n"
		 "takes through its functions (waymark paths), or both. Use it as the compiler:\n"
		 "./configure CC=\"waymark cc\", or waymark-c++ where one word is wanted.\n",
	.options = cc_option_rows,
	.notes = notes,
	.help_column = HELP_COLUMN,
	.operands = {{"file", COMPLETE_FILE, NULL, true}},
	.run = run,
};
