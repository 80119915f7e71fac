/*
 * attach.c - `waymark attach`: the sampler or the agent in a process that already runs, and out of it again.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number_text.h"
#include "base/vec.h"
#include "cli/agent_options.h"
#include "cli/attach_agent.h"
#include "cli/attach_java.h"
#include "cli/attach_root.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/recording_options.h"
#include "cli/run_java.h"
#include "cli/wait_options.h"
#include "model/base/recording.h"
#include "object/object.h"
#include "snapshot/hotspot/hotspot.h"

struct request {
	pid_t pid;
	struct agent_choices clients;
	struct wait_choices waits;
	struct run_java_options java;
	bool is_java; /* the process is a virtual machine of HotSpot */
	bool is_encode;
	bool is_detach;
	bool is_quiet;
	const char *output; /* NULL: WAYMARK_OUT, else the current directory */
	uint64_t limit_bytes;
};

static struct error *set_output(void *state, const char *place)
{
	struct request *r = state;

	r->output = place;
	return *place ? NULL : error_create(ERROR_ARGUMENT, "option -o needs a place");
}

static struct error *set_limit(void *state, const char *text)
{
	struct request *r = state;
	struct error *err = recording_limit_check(text);
	char *unit = NULL;

	if (err)
		return err;
	r->limit_bytes = strtoull(text, &unit, 10);
	for (const char *units = "kKmMgG", *at = *unit ? strchr(units, *unit) : NULL; at;
	     at = at > units + 1 ? at - 2 : NULL)
		r->limit_bytes = r->limit_bytes > UINT64_MAX >> 10 ? UINT64_MAX : r->limit_bytes << 10;
	return NULL;
}

static const struct option_row option_rows[] = {
	{.name = "detach",
	 .letter = 'd',
	 .help = "take the agent out again: every byte of code is as it was, and the recording is whole",
	 OPTION_FLAG(struct request, is_detach)},
	OPTIONS_OF(attach_agent_options, struct request, clients),
	OPTIONS_OF(wait_options, struct request, waits),
	OPTIONS_OF(run_java_options, struct request, java),
	{.name = "encode",
	 .help = "encode every call of the program as it runs: samples have the frames that tail calls replaced, too",
	 OPTION_FLAG(struct request, is_encode)},
	{.name = "output",
	 .letter = 'o',
	 .argument = "PLACE",
	 .help = "a directory, or a file name in which %e becomes the program's name and %p its pid (waymark-%e-%p.wmk); the "
		 "process writes there itself",
	 .completion = COMPLETE_FILE,
	 OPTION_SET(set_output)},
	{.name = "limit",
	 .argument = "SIZE",
	 .help = "record at most SIZE bytes; K, M, G are known (4G)",
	 OPTION_SET(set_limit)},
	{.name = "quiet", .letter = 'q', .help = "say nothing if it works", OPTION_FLAG(struct request, is_quiet)},
	OPTION_HELP,
	OPTIONS_END,
};

static int parse_options(const struct command *command, struct request *r, int argc, char **argv)
{
	int status = options_parse(command, r, argc, argv);
	char *end = "";
	long pid;

	if (status != OPTIONS_PARSED)
		return status;
	if (optind >= argc)
		return message_usage("attach", "a process id is needed");
	if (argc - optind > 1)
		return message_usage("attach", "%s: one argument too many", argv[optind + 1]);
	pid = strtol(argv[optind], &end, 10);
	if (*end || end == argv[optind] || pid < 1 || pid > INT32_MAX)
		return message_usage("attach", "%s: is no process id", argv[optind]);
	if (r->is_detach && (agent_choices_is_any(&r->clients) || run_java_option(&r->java) || wait_option(&r->waits) ||
			     r->is_encode || r->output || r->limit_bytes))
		return message_usage("attach", "--detach takes no other options but -q");
	r->pid = (pid_t)pid;
	r->is_java = hotspot_is_there(r->pid);
	if (wait_option(&r->waits) && (r->is_encode || r->clients.of[WM1_AGENT_check].is_on))
		return message_usage("attach",
				     "--wall and --off-cpu walk stacks without the agent, which --encode and --check "
				     "need");
	return OPTIONS_PARSED;
}

/* A program that cannot be read is for the kernel to refuse. */
static struct error *check_program(pid_t pid)
{
	struct object_program program;
	struct error *err;
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	err = object_read_program(path, &program);
	if (err) {
		error_destroy(err);
		return NULL;
	}
	if (program.unfit)
		return error_create(ERROR_ARGUMENT, "process %d: %s, beside which the agent does not work", (int)pid,
				    program.unfit);
	return NULL;
}

/* What machine code and virtual machines do not have in common. */
static struct error *check_clients(const struct request *r)
{
	const char *java = run_java_option(&r->java);

	if (!r->is_java && java)
		return error_create(ERROR_ARGUMENT,
				    "process %d: no virtual machine of HotSpot is seen in it, for which --%s is",
				    (int)r->pid, java);
	if (r->is_java && (r->is_encode || r->clients.of[WM1_AGENT_check].is_on))
		return error_create(
			ERROR_ARGUMENT,
			"process %d: is a Java virtual machine, in which --%s works from the start only, by "
			"`waymark run`",
			(int)r->pid, r->is_encode ? "encode" : "check");
	return NULL;
}

/* Only the sampler and the agent for Java programs come into processes that see another file system. */
static bool is_without_agent(const struct request *r)
{
	return r->is_java || (!r->is_encode && !r->clients.of[WM1_AGENT_check].is_on);
}

/* What the sampler is to do, as WAYMARK_SAMPLE has it, and the word for allocations (sampler/attach.c). */
static void print_sampler(const struct request *r, const struct agent_choices *clients, struct buffer *words)
{
	const char *heap = getenv("WAYMARK_HEAP");

	wait_choices_print(&r->waits, clients->of[WM1_AGENT_sample].is_on ? clients->of[WM1_AGENT_sample].number : 0,
			   words);
	if (clients->of[WM1_AGENT_heap].is_on)
		buffer_printf(words, "%sheap%s", words->len_bytes ? "," : "",
			      heap && strcmp(heap, "every-check") == 0 ? "=check" : "");
}

static struct error *attach_to_native(const struct request *r, const char *pattern, bool is_apart, struct buffer *words)
{
	struct attach_options options = {.limit_bytes = r->limit_bytes,
					 .pattern = pattern,
					 .is_apart = is_apart,
					 .is_sampler = is_without_agent(r),
					 .is_heap = r->clients.of[WM1_AGENT_heap].is_on};
	struct agent_choices clients = r->clients;
	const char *more = getenv("WAYMARK_AGENT");
	struct error *err;

	if (clients.of[WM1_AGENT_check].is_on || (!agent_choices_is_any(&clients) && !wait_option(&r->waits)))
		agent_choices_add(&clients, WM1_AGENT_sample);
	if (options.is_sampler) {
		print_sampler(r, &clients, words);
	} else {
		agent_choices_print(&clients, words);
		buffer_printf(words, ",%s", more ? more : "");
	}
	buffer_u8(words, 0);
	err = buffer_error(words) ?: check_program(r->pid);
	options.options = (const char *)words->bytes;
	return err ? err : attach_agent(r->pid, &options);
}

static struct error *attach_to_java(const struct request *r, const char *pattern, struct buffer *words)
{
	struct attach_java_options options = {.limit_bytes = r->limit_bytes, .pattern = pattern};
	struct agent_choices clients = r->clients;
	struct error *err;

	if (!agent_choices_is_any(&clients) && !run_java_option(&r->java) && !wait_option(&r->waits))
		agent_choices_add(&clients, WM1_AGENT_sample);
	clients.of[WM1_AGENT_sample].is_given = clients.of[WM1_AGENT_sample].is_on;
	run_java_print(&clients, &r->waits, &r->java, words);
	buffer_u8(words, 0);
	err = buffer_error(words);
	options.words = (const char *)words->bytes;
	return err ? err : attach_java(r->pid, &options);
}

static struct error *attach(const struct request *r)
{
	const char *env = getenv("WAYMARK_OUT"), *place = r->output ? r->output : env && *env ? env : NULL;
	struct buffer pattern = {0}, words = {0};
	bool is_apart = false;
	struct error *err = check_clients(r) ?: recording_environment_check();

	if (!err)
		err = attach_is_apart(r->pid, is_without_agent(r), &is_apart);
	if (!err)
		err = is_apart ? attach_root_pattern(r->pid, place, &pattern)
			       : recording_pattern(place ? place : ".", &pattern);
	if (!err && r->output && !is_apart)
		err = recording_make_room("attach", place, r->is_quiet);
	if (!err)
		err = r->is_java ? attach_to_java(r, (const char *)pattern.bytes, &words)
				 : attach_to_native(r, (const char *)pattern.bytes, is_apart, &words);
	if (!err && !r->is_quiet)
		fprintf(stderr, "waymark attach: attached to %d; waymark attach --detach %d ends it%s\n", (int)r->pid,
			(int)r->pid, is_apart ? "; the recording is in the file system of that process" : "");
	buffer_deinit(&pattern);
	buffer_deinit(&words);
	return err;
}

/* The recording as the process names it. */
static bool read_header(pid_t pid, const char *path, struct wmk_header *ret)
{
	char name[64];
	int fd = attach_root_open(pid, path, O_RDONLY | O_NONBLOCK);
	bool is_read;

	if (fd < 0)
		return false;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	is_read = recording_header(name, ret);
	close(fd);
	return is_read;
}

/* Its numbers are in its first page. */
static void print_recording(const struct request *r, const char *path, bool is_sampler, bool is_apart)
{
	struct wmk_header h;

	if (!*path) {
		message_warn("attach", "it recorded nothing: %s",
			     r->is_java ? "there was no event" : "no CPU time was used, or no thread was looked at");
		return;
	}
	if (is_apart)
		message_warn("attach", "wrote /proc/%d/root%s, in the file system of that process", (int)r->pid, path);
	else
		message_warn("attach", "wrote %s", path);
	if (r->is_java || !(is_apart ? read_header(r->pid, path, &h) : recording_header(path, &h)))
		return;
	if (h.flags & WMK_FLAG_HEAP)
		fprintf(stderr, "waymark attach: %" PRIu64 " %s allocated meanwhile live, %" PRIu64 " at most\n",
			h.heap_live_bytes, noun_of(h.heap_live_bytes, "byte", "bytes"), h.heap_peak_bytes);
	if (h.flags & WMK_FLAG_HEAP && !h.samples && !h.samples_in_agent)
		return;
	if (is_sampler) {
		uint64_t samples = h.samples + h.wall_samples;

		fprintf(stderr, "waymark attach: %" PRIu64 " %s\n", samples, noun_of(samples, "sample", "samples"));
		return;
	}
	fprintf(stderr,
		"waymark attach: %" PRIu64 " %s (context unknown: %" PRIu64 "), %" PRIu64
		" more %s in the agent itself\n",
		h.samples, noun_of(h.samples, "sample", "samples"), h.samples_unknown, h.samples_in_agent,
		noun_of(h.samples_in_agent, "tick", "ticks"));
	if (h.samples_checked || h.samples_unchecked)
		fprintf(stderr,
			"waymark attach: %" PRIu64 " of %" PRIu64 " compared %s with the stack (not compared: %" PRIu64
			")\n",
			h.samples_agreed, h.samples_checked,
			noun_of(h.samples_checked, "sample agrees", "samples agree"), h.samples_unchecked);
}

static struct error *detach(const struct request *r)
{
	char path[PATH_MAX];
	bool is_sampler = false, is_apart = false;
	struct error *err = attach_is_apart(r->pid, true, &is_apart);

	/* The library may be gone from here since. */
	error_destroy(err);
	err = r->is_java ? detach_java(r->pid, path) : detach_agent(r->pid, path, &is_sampler);
	if (!err && !r->is_quiet)
		print_recording(r, path, is_sampler, is_apart);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	int status = parse_options(command, &r, argc, argv);

	if (status != OPTIONS_PARSED)
		return status;
	return message_error("attach", r.is_detach ? detach(&r) : attach(&r));
}

const struct command command_attach = {
	.name = "attach",
	.summary = "record contexts of a process that already runs",
	.usage = "Usage: waymark attach [OPTIONS] PID\n"
		 "\n"
		 "Comes into the process and records samples from there on. --detach leaves it:\n"
		 "the process then goes on as if nothing had been there. Samples and allocations\n"
		 "walk the stack; for --encode and --check an agent encodes every call. A Java virtual\n"
		 "machine loads its agent by its own attach protocol, and stands still for nothing.\n",
	.options = option_rows,
	.operands = {{"pid", COMPLETE_PROCESS, NULL, false}},
	.run = run,
};
