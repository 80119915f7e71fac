/* run_java.c - knows a launcher of a JDK by the launchers' library, and writes the options of the agent for Java programs. */
#include "cli/run_java.h"

#include <libgen.h>
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

/* The option that only the agent for Java programs knows; NULL: none. */
static const char *java_option(const struct run_clients *clients)
{
	return clients->is_alloc        ? "--alloc"
	       : clients->is_contention ? "--contention"
	       : clients->is_exceptions ? "--exceptions"
	       : clients->profile       ? "--profile"
	       : clients->cache         ? "--cache"
					: NULL;
}

bool run_java_is_all(const struct run_clients *clients)
{
	return java_option(clients) && !clients->is_heap && !clients->sample_hz;
}

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

struct error *run_java_find(const struct run_clients *clients, const char *program, struct run_java *ret)
{
	const char *option = java_option(clients);
	bool is_other = clients->is_with_agent || clients->is_without_agent;
	struct error *err = NULL;

	if (is_other && option)
		return error_create(ERROR_ARGUMENT, "%s needs the agent for Java programs, which --%s keeps away",
				    option, clients->is_with_agent ? "agent" : "no-agent");
	if (!is_other)
		err = find_agent(ret);
	if (!err && option && !ret->agent)
		err = error_create(ERROR_ARGUMENT,
				   "%s: the agent for Java programs is not there: Waymark was built without a JDK, or "
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

/* Words with commas behind them. */
static void add_options(const struct run_clients *clients, struct buffer *text)
{
	if (clients->is_check)
		buffer_printf(text, "check,");
	if (clients->is_heap)
		buffer_printf(text, "alloc=0,");
	else if (clients->is_alloc)
		buffer_printf(text, "alloc%s%s,", clients->alloc_bytes ? "=" : "",
			      clients->alloc_bytes ? clients->alloc_bytes : "");
	if (clients->is_contention)
		buffer_printf(text, "contention,");
	if (clients->is_exceptions)
		buffer_printf(text, "exceptions,");
	if (clients->profile)
		add_file("profile", clients->profile, text);
	if (clients->cache)
		add_file("cache", clients->cache, text);
	if (clients->is_sampled)
		buffer_printf(text, "cpu=%zu,", clients->sample_hz);
}

struct error *run_java_set(const struct run_clients *clients, const struct run_java *java)
{
	struct buffer text = {0};
	struct error *err;

	if (!java->agent)
		return NULL;
	buffer_printf(&text, "%s=", java->agent);
	add_options(clients, &text);
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
