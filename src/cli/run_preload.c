/*
 * run_preload.c - which libraries a program gets, and whether it can. The loader passes over LD_PRELOAD where it grants privileges,
 * and is not there in static programs: both would go on unrecorded, so both are refused.
 */
#include "cli/run_preload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/install_paths.h"
#include "cli/message.h"
#include "object/object.h"
#include "waymark/run.h"

/* The interpreter that "#! PATH" names, or an empty string; how much of the file was read. */
static ssize_t read_interpreter(const char *path, char ret[PATH_MAX])
{
	char line[PATH_MAX + 2] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	char *start = line + 2;

	if (fd >= 0)
		close(fd);
	ret[0] = '\0';
	if (len < 3 || strncmp(line, "#!", 2) != 0)
		return len;
	start += strspn(start, " \t");
	start[strcspn(start, " \t\r\n")] = '\0';
	strcpy(ret, start);
	return len;
}

static bool has_capabilities(const char *path)
{
	return getxattr(path, "security.capability", NULL, 0) > 0;
}

/* The reason why the loader would not take a library into the program; NULL: none. */
static struct error *check_loader(const char *path, const struct object_program *p, const char *what, const char *hint)
{
	struct stat st;

	if (!p->is_x86_64)
		return error_create(ERROR_ARGUMENT, "%s: is no x86-64 program: %s works on those only%s", path, what,
				    hint);
	if (!p->is_dynamic)
		return error_create(ERROR_ARGUMENT,
				    "%s: is linked statically: %s works on dynamically linked programs%s", path, what,
				    hint);
	if (p->libc)
		return error_create(ERROR_ARGUMENT, "%s: is linked with %s: %s works on programs of glibc%s", path,
				    p->libc, what, hint);
	if (stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)))
		return error_create(ERROR_ARGUMENT, "%s: is set-%s-ID: the loader does not take %s into it%s", path,
				    st.st_mode & S_ISUID ? "user" : "group", what, hint);
	if (has_capabilities(path))
		return error_create(ERROR_ARGUMENT, "%s: has file capabilities: the loader does not take %s into it%s",
				    path, what, hint);
	return NULL;
}

/* As check_loader, for what changes the program's code or puts functions in front of its allocator: the sampler does neither. */
static struct error *check_program(const char *path, const struct object_program *p, const char *what, const char *hint)
{
	if (p->unfit)
		return error_create(ERROR_ARGUMENT, "%s: %s, beside which %s does not work%s", path, p->unfit, what,
				    hint);
	return check_loader(path, p, what, hint);
}

static bool is_heap_sampled(const struct run_clients *clients)
{
	return clients->agent.of[WM1_AGENT_heap].number != 0;
}

/* The option that asks for the agent, without its dashes; NULL: none does. */
static const char *agent_option(const struct run_clients *clients)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients->agent.of[i].is_given &&
		    (wm1_agent_client_options[i].asks || (i == WM1_AGENT_heap && is_heap_sampled(clients))))
			return wm1_agent_client_options[i].name;
	return clients->is_encode ? "encode" : clients->is_with_agent ? "agent" : wait_option(&clients->waits);
}

/* The option that needs the agent, where a walk is not enough. */
static const char *agent_need(const struct run_clients *clients)
{
	return clients->is_encode                         ? "encode"
	       : clients->agent.of[WM1_AGENT_check].is_on ? "check"
	       : clients->is_with_agent                   ? "agent"
							  : "heap";
}

/* Is the stack walked for allocations? The agent alone follows an allocator of the program's own; who knows contexts without that is not asked. */
static bool is_heap_walked(const struct run_clients *clients, const struct object_program *p)
{
	return is_heap_sampled(clients) ||
	       (clients->agent.of[WM1_AGENT_heap].is_on && !p->is_instrumented && !p->has_malloc);
}

/* Samples need no encoding, nor do allocations, nor those of a program that knows its contexts itself. */
static bool is_walk_enough(const struct run_clients *clients, const struct object_program *p)
{
	struct agent_choices others = clients->agent;

	others.of[WM1_AGENT_sample].is_on = false;
	if (p->is_instrumented || is_heap_walked(clients, p))
		others.of[WM1_AGENT_heap].is_on = false;
	return (clients->agent.of[WM1_AGENT_sample].is_on || wait_option(&clients->waits) ||
		is_heap_walked(clients, p)) &&
	       !agent_choices_is_any(&others) && !clients->is_encode && !clients->is_with_agent;
}

/* Does the agent come into the program? */
static struct error *choose_agent(const struct run_clients *clients, const char *path, const struct object_program *p,
				  bool *ret_agent)
{
	const char *option = agent_option(clients);

	*ret_agent = !clients->is_without_agent && (option || !p->is_instrumented);
	if (clients->is_without_agent && option)
		return error_create(ERROR_ARGUMENT, "--%s needs the agent, which --no-agent keeps away", option);
	if (option && p->keeps_contexts)
		return error_create(ERROR_ARGUMENT, "%s: was built with an earlier waymark cc: build it again for --%s",
				    path, option);
	return NULL;
}

/*
 * The program that the dynamic linker is to run, as ld.so(8) reads its arguments; NULL: nothing that has a path. It would look for a name without a
 * slash among the libraries.
 */
static const char *behind_loader(char **argv)
{
	static const char *const with_value[] = {"--library-path",
						 "--glibc-hwcaps-prepend",
						 "--glibc-hwcaps-mask",
						 "--inhibit-rpath",
						 "--audit",
						 "--preload",
						 "--argv0"};

	for (argv++; *argv && strncmp(*argv, "--", 2) == 0; argv++)
		for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
			if (strcmp(*argv, with_value[i]) == 0 && argv[1])
				argv++;
	return *argv && strchr(*argv, '/') ? *argv : NULL;
}

struct error *run_preload_check_java(const char *program)
{
	struct object_program p;
	struct error *err = object_read_program(program, &p);

	return err ? err : check_program(program, &p, "the agent for Java programs", "; --no-agent runs it without");
}

/* Without the agent the heap client says what malloc is the program's own (runtime/heap/missed.c). */
static void say_allocator(const struct run_clients *clients, const char *program, const struct object_program *p,
			  bool has_agent)
{
	const char *name = p->allocator ?: has_agent ? p->own_allocator : NULL;

	if (clients->agent.of[WM1_AGENT_heap].is_on && name)
		message_warn("run", "%s has its own allocator: allocations by %s are not recorded, those by malloc are",
			     program, name);
}

struct error *run_preload_check(const struct run_clients *clients, const char *program, char **argv,
				struct run_libraries *ret)
{
	char interpreter[PATH_MAX];
	struct object_program p;
	struct error *err;
	bool is_script;

	ret->has_agent = ret->has_sampler = ret->walks_heap = ret->has_runtime = false;
	ret->has_heap = clients->agent.of[WM1_AGENT_heap].is_on;
	if (read_interpreter(program, interpreter) < 0)
		return NULL;
	is_script = interpreter[0];
	err = object_read_program(is_script ? interpreter : program, &p);
	if (!err && !is_script && p.is_loader) {
		if (!behind_loader(argv))
			return error_create(ERROR_ARGUMENT,
					    "%s: runs a program that it is given by its path, as in ./prog", program);
		program = behind_loader(argv);
		err = object_read_program(program, &p);
	}
	if (err && (is_script || !clients->agent.of[WM1_AGENT_heap].is_on)) { /* exec says what is wrong */
		error_destroy(err);
		return NULL;
	}
	if (err)
		return err;
	err = choose_agent(clients, program, &p, &ret->has_agent);
	ret->has_runtime = p.has_no_recorder && ret->has_heap && !is_heap_walked(clients, &p) &&
			   (!ret->has_agent || is_walk_enough(clients, &p));
	if (!err && ret->has_agent && is_heap_sampled(clients) && !is_walk_enough(clients, &p))
		return error_create(ERROR_ARGUMENT, "--heap=BYTES walks the stack: it does not go together with "
						    "--encode, --check and --agent, with which every call is encoded");
	if (!err && !is_script)
		say_allocator(clients, program, &p, ret->has_agent);
	if (!err && ret->has_agent && is_walk_enough(clients, &p)) {
		ret->has_agent = false;
		ret->has_sampler = true;
		ret->walks_heap = is_heap_walked(clients, &p);
		if (ret->walks_heap)
			return check_program(is_script ? interpreter : program, &p, "--heap", "");
		return check_loader(is_script ? interpreter : program, &p,
				    clients->agent.of[WM1_AGENT_sample].is_on ? "--sample" : "the sampler", "");
	}
	if (!err && wait_option(&clients->waits))
		err = error_create(ERROR_ARGUMENT, "--%s walks stacks without the agent, which --%s needs",
				   wait_option(&clients->waits), agent_need(clients));
	if (!err && ret->has_agent)
		return check_program(is_script ? interpreter : program, &p, "the agent",
				     agent_option(clients) ? "" : "; --no-agent runs it without");
	return err || is_script || !clients->agent.of[WM1_AGENT_heap].is_on ? err
									    : check_program(program, &p, "--heap", "");
}

/* Appends DIR/NAME and a colon. */
static struct error *add_library(struct buffer *list, const char *dir, const char *name, const char *what)
{
	struct error *err = NULL;
	char *library;

	if (asprintf(&library, "%s/%s", dir, name) < 0)
		return &error_no_memory;
	if (access(library, R_OK) != 0)
		err = error_os(errno, "%s: %s is not there; build or install Waymark as a whole", library, what);
	else if (strpbrk(library, " :"))
		err = error_create(ERROR_ARGUMENT, "%s: LD_PRELOAD cannot take a path with a space or colon", library);
	else
		buffer_printf(list, "%s:", library);
	free(library);
	return err;
}

/* In front of what is preloaded already: an interposer sees the calls that the next one makes. */
static struct error *set_libraries(const struct run_libraries *libraries)
{
	const char *before = getenv("LD_PRELOAD");
	struct install_paths paths;
	struct buffer list = {0};
	struct error *err = install_paths_find(&paths);

	if (err)
		return err;
	if (libraries->has_sampler)
		err = add_library(&list, paths.sampler_dir, INSTALL_SAMPLER, "the sampler");
	if (libraries->has_agent)
		err = add_library(&list, paths.agent_dir, INSTALL_AGENT, "the agent");
	if (!err && libraries->has_heap)
		err = add_library(&list, paths.runtime_dir, INSTALL_HEAP, "the heap client");
	if (!err && libraries->has_runtime)
		err = add_library(&list, paths.runtime_dir, INSTALL_RUNTIME, "the runtime");
	if (!err && libraries->java)
		buffer_printf(&list, "%s:", libraries->java);
	install_paths_deinit(&paths);
	if (!err && before && *before)
		buffer_printf(&list, "%s", before);
	else if (!err && list.len_bytes)
		list.len_bytes--; /* the last colon */
	buffer_u8(&list, 0);
	if (!err)
		err = buffer_error(&list);
	if (!err && setenv("LD_PRELOAD", (char *)list.bytes, 1) != 0)
		err = &error_no_memory;
	buffer_deinit(&list);
	return err;
}

/* In front of what WAYMARK_AGENT says already: the first of two is in force. */
static struct error *set_agent_options(const struct run_clients *clients)
{
	const char *before = getenv("WAYMARK_AGENT");
	struct buffer text = {0};
	struct error *err;

	agent_choices_print(&clients->agent, &text);
	if (before && *before)
		buffer_printf(&text, "%s%s", text.len_bytes ? "," : "", before);
	buffer_u8(&text, 0);
	err = buffer_error(&text);
	/* The agent finds and patches calls of the PLT when the program starts, with their targets known. */
	if (!err && (setenv("WAYMARK_AGENT", (char *)text.bytes, 1) != 0 || setenv("LD_BIND_NOW", "1", 1) != 0))
		err = &error_no_memory;
	buffer_deinit(&text);
	return err;
}

static struct error *set_sampler_options(const struct run_clients *clients)
{
	const struct agent_choice *sample = &clients->agent.of[WM1_AGENT_sample];
	struct buffer text = {0};
	struct error *err;

	wait_choices_print(&clients->waits, sample->is_on ? sample->number : 0, &text);
	buffer_u8(&text, 0);
	err = buffer_error(&text);
	if (!err && setenv("WAYMARK_SAMPLE", (char *)text.bytes, 1) != 0)
		err = &error_no_memory;
	buffer_deinit(&text);
	return err;
}

static struct error *set_heap_options(const struct run_clients *clients, const struct run_libraries *libraries)
{
	char text[32] = WM1_HEAP_EVERY;

	if (!libraries->walks_heap)
		return NULL;
	if (is_heap_sampled(clients))
		snprintf(text, sizeof text, "%" PRIu32, clients->agent.of[WM1_AGENT_heap].number);
	return setenv("WAYMARK_HEAP", text, 1) == 0 ? NULL : &error_no_memory;
}

/* Filters of system calls that all this runs under are none of the program's: the agent stays out of what gets more. */
static struct error *count_filters(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256], count[16] = "0";

	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "Seccomp_filters: %15[0-9]", count) == 1)
			break;
	if (status)
		fclose(status);
	return setenv("WAYMARK_SECCOMP", count, 1) == 0 ? NULL : &error_no_memory;
}

/* The program may execute one built with AddressSanitizer, which ends programs into which anything was preloaded. */
static struct error *let_sanitizers_start(void)
{
	const char *before = getenv("ASAN_OPTIONS");
	struct error *err = NULL;
	char *text;

	if (asprintf(&text, "verify_asan_link_order=0%s%s", before && *before ? ":" : "", before ? before : "") < 0)
		return &error_no_memory;
	if (setenv("ASAN_OPTIONS", text, 1) != 0)
		err = &error_no_memory;
	free(text);
	return err;
}

struct error *run_preload_set(const struct run_clients *clients, const struct run_libraries *libraries)
{
	struct error *err = NULL;

	unsetenv("WAYMARK_HEAP"); /* of a run around this one */
	if (libraries->has_agent || libraries->has_sampler || libraries->has_heap || libraries->java)
		err = set_libraries(libraries);
	if (!err && (libraries->has_agent || libraries->has_sampler || libraries->has_heap))
		err = let_sanitizers_start();
	if (!err && libraries->has_sampler)
		err = set_sampler_options(clients) ?: set_heap_options(clients, libraries);
	if (!err && libraries->has_agent)
		err = set_agent_options(clients);
	if (!err && (libraries->has_agent || libraries->has_sampler))
		err = count_filters();
	return err;
}
