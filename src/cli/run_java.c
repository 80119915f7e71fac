/* run_java.c - knows a launcher of a JDK by the launchers' library, and writes the options of the agent for Java programs. */
#include "cli/run_java.h"

#include <libgen.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/install_paths.h"

/* DIR/NAME; malloc'd. NULL: there is no such file that LD_PRELOAD could take, or no memory. */
static char *find_file(const char *dir, const char *name)
{
	char *ret;

	if (asprintf(&ret, "%s/%s", dir, name) < 0)
		return NULL;
	if (access(ret, R_OK) == 0 && !strpbrk(ret, " :"))
		return ret;
	free(ret);
	return NULL;
}

/* JDK/bin/PROGRAM, beside JDK/lib/libjli.so. /usr/bin/java is a link to one. */
static bool is_launcher(const char *program)
{
	char *real = realpath(program, NULL), *library = NULL;
	bool ret = false;

	if (real && asprintf(&library, "%s/../lib/libjli.so", dirname(real)) >= 0) {
		ret = access(library, R_OK) == 0;
		free(library);
	}
	free(real);
	return ret;
}

/* ---- options ---- */

static struct error *set_client(struct run_java_options *options, enum wm1_jvm_client client, const char *text)
{
	const struct wm1_jvm_client_option *option = &wm1_jvm_client_options[client];
	uint32_t number;

	options->clients[client] = (struct run_java_client){.is_on = true, .number = text};
	return text ? client_number_parse(option->name, text, (uint32_t)option->least, (uint32_t)option->most, &number)
		    : NULL;
}

/* The agent's options have commas between them. */
static struct error *check_file(const char *option, const char *text)
{
	if (*text && !strchr(text, ','))
		return NULL;
	return error_create(ERROR_ARGUMENT, "--%s=%s: the name of a file without commas is needed", option, text);
}

static struct error *set_profile(void *state, const char *text)
{
	struct run_java_options *options = state;

	options->profile = text;
	return check_file("profile", text);
}

static struct error *set_cache(void *state, const char *text)
{
	struct run_java_options *options = state;

	options->cache = text;
	return check_file("cache", text);
}

#define OWN_SETTER(client, ...)                                          \
	static struct error *set_##client(void *state, const char *text) \
	{                                                                \
		return set_client(state, WM1_JVM_##client, text);        \
	}
#define OWN_ROW(client, value, least, most, preset, text) \
	{.name = #client,                                 \
	 .argument = (value),                             \
	 .is_value_optional = (most) != 0,                \
	 .help = (text),                                  \
	 OPTION_SET(set_##client)},
#define SHARED_NONE(...)

WM1_JVM_CLIENTS(OWN_SETTER, SHARED_NONE)

const struct option_row run_java_options[] = {
	/* clang-format off */
	WM1_JVM_CLIENTS(OWN_ROW, SHARED_NONE)
	/* clang-format on */
	OPTIONS_END,
};

const struct option_row run_java_file_options[] = {
	{.name = "profile",
	 .argument = "FILE",
	 .help = "java: write to FILE which calls are hot; a run that finds it keeps contexts of these at a lower price",
	 .completion = COMPLETE_FILE,
	 OPTION_SET(set_profile)},
	{.name = "cache",
	 .argument = "FILE",
	 .help = "java: write rewritten classes to FILE; a run that finds it starts sooner",
	 .completion = COMPLETE_FILE,
	 OPTION_SET(set_cache)},
	OPTIONS_END,
};

const char *run_java_option(const struct run_java_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		if (options->clients[i].is_on)
			return wm1_jvm_client_options[i].name;
	return options->profile ? "profile" : options->cache ? "cache" : NULL;
}

bool run_java_is_all(const struct run_clients *clients, const struct run_java_options *options)
{
	return run_java_option(options) && !agent_choices_is_any(&clients->agent) && !wait_option(&clients->waits);
}

/* ---- the agent ---- */

static struct error *find_agent(struct run_java *java)
{
	struct install_paths paths;
	struct error *err = install_paths_find(&paths);

	if (err)
		return err;
	java->agent = find_file(paths.jvm_dir, INSTALL_JVM_AGENT);
	java->library = find_file(paths.jvm_dir, INSTALL_JAVA);
	install_paths_deinit(&paths);
	if (!java->agent || !java->library)
		run_java_deinit(java);
	return NULL;
}

struct error *run_java_find(const struct run_clients *clients, const struct run_java_options *options,
			    const char *program, struct run_java *ret)
{
	const char *option = run_java_option(options);
	bool is_other = clients->is_with_agent || clients->is_without_agent;
	struct error *err = NULL;

	if (is_other && option)
		return error_create(ERROR_ARGUMENT, "--%s needs the agent for Java programs, which --%s keeps away",
				    option, clients->is_with_agent ? "agent" : "no-agent");
	if (!is_other)
		err = find_agent(ret);
	if (!err && option && !ret->agent)
		err = error_create(
			ERROR_ARGUMENT,
			"--%s: the agent for Java programs is not there: Waymark was built without a JDK, or "
			"its path has a space or colon",
			option);
	ret->is_launcher = ret->agent && is_launcher(program);
	return err;
}

/* A path for processes that may be in other directories; commas end it. */
static void add_file(const char *name, const char *path, struct buffer *text)
{
	char *here = *path == '/' ? NULL : get_current_dir_name();
	bool is_added = here && !strchr(here, ',');

	buffer_printf(text, "%s=%s%s%s,", name, is_added ? here : "", is_added ? "/" : "", path);
	free(here);
}

static void print_rate(enum wm1_jvm_client client, uint32_t hz, struct buffer *text)
{
	if (hz)
		buffer_printf(text, "%s=%" PRIu32 ",", wm1_jvm_client_options[client].name, hz);
}

void run_java_print(const struct agent_choices *choices, const struct wait_choices *waits,
		    const struct run_java_options *options, struct buffer *text)
{
	const struct agent_choice *agent = choices->of;

	if (agent[WM1_AGENT_check].is_on)
		buffer_printf(text, "check,");
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++) {
		const struct run_java_client *client = &options->clients[i];

		if (client->is_on)
			buffer_printf(text, "%s%s%s,", wm1_jvm_client_options[i].name, client->number ? "=" : "",
				      client->number ? client->number : "");
	}
	if (agent[WM1_AGENT_heap].is_on)
		buffer_printf(text, "%s=%" PRIu32 ",", wm1_jvm_client_options[WM1_JVM_alloc].name,
			      agent[WM1_AGENT_heap].number);
	if (agent[WM1_AGENT_sample].is_given)
		buffer_printf(text, "%s=%" PRIu32 ",", wm1_jvm_client_options[WM1_JVM_cpu].name,
			      agent[WM1_AGENT_sample].number);
	print_rate(WM1_JVM_wall, waits->wall_hz, text);
	print_rate(WM1_JVM_off_cpu, waits->off_cpu_hz, text);
	if (options->profile)
		add_file("profile", options->profile, text);
	if (options->cache)
		add_file("cache", options->cache, text);
}

struct error *run_java_set(const struct run_clients *clients, const struct run_java_options *options,
			   const struct run_java *java)
{
	struct buffer text = {0};
	struct error *err;

	if (!java->agent)
		return NULL;
	buffer_printf(&text, "%s=", java->agent);
	if (clients->is_encode)
		buffer_printf(&text, "encode,");
	run_java_print(&clients->agent, &clients->waits, options, &text);
	buffer_u8(&text, 0);
	err = buffer_error(&text);
	if (!err && setenv("WAYMARK_JAVA", (char *)text.bytes, 1) != 0)
		err = &error_no_memory;
	buffer_deinit(&text);
	return err;
}

void run_java_deinit(struct run_java *java)
{
	free(java->agent);
	free(java->library);
	*java = (struct run_java){0};
}
