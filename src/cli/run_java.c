/* run_java.c - knows a `java` by the launcher's library of its JDK. */
#include "cli/run_java.h"

#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/install_paths.h"

/* malloc'd; NULL without memory, or if it is not there. */
static char *find_agent(void)
{
	struct install_paths paths;
	struct error *err = install_paths_find(&paths);
	char *ret = NULL;

	if (err) {
		error_destroy(err);
		return NULL;
	}
	if (asprintf(&ret, "%s/%s", paths.jvm_dir, INSTALL_JVM_AGENT) < 0)
		ret = NULL;
	install_paths_deinit(&paths);
	if (ret && access(ret, R_OK) != 0) {
		free(ret);
		ret = NULL;
	}
	return ret;
}

/* JDK/bin/java, beside JDK/lib/libjli.so. /usr/bin/java is a link to it. */
static bool is_java(const char *program)
{
	char *real = realpath(program, NULL), *library = NULL;
	bool ret = false;

	if (!real)
		return false;
	if (strcmp(strrchr(real, '/'), "/java") == 0 && asprintf(&library, "%s/../lib/libjli.so", dirname(real)) >= 0) {
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

struct error *run_java_find_agent(const struct run_clients *clients, const char *program, char **ret)
{
	const char *option = java_option(clients);
	bool is_other = clients->is_with_agent || clients->is_without_agent;

	*ret = is_other || !is_java(program) ? NULL : find_agent();
	if (!option || *ret)
		return NULL;
	if (is_other)
		return error_create(ERROR_ARGUMENT, "%s needs the agent for Java programs, which --%s keeps away",
				    option, clients->is_with_agent ? "agent" : "no-agent");
	return error_create(ERROR_ARGUMENT, "%s: %s is for the java of a JDK, where Waymark was built with one",
			    program, option);
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
		buffer_printf(text, "profile=%s,", clients->profile);
	if (clients->cache)
		buffer_printf(text, "cache=%s,", clients->cache);
	if (clients->is_sampled)
		buffer_printf(text, "cpu=%zu,", clients->sample_hz);
}

/*
 * HotSpot does not compile methods of more than 8000 bytes, and rewriting can bring one there: an interpreter's loop became seven times
 * slower. The program's own arguments come behind it.
 */
static char compile_huge_methods[] = "-XX:-DontCompileHugeMethods";

struct error *run_java_arguments(const struct run_clients *clients, const char *agent, char **argv, char ***ret)
{
	struct buffer option = {0};
	char **words;
	size_t count = 0;

	while (argv[count])
		count++;
	words = calloc(count + 3, sizeof *words);
	buffer_printf(&option, "-agentpath:%s=", agent);
	add_options(clients, &option);
	if (words && !option.failed)
		words[1] = strndup((char *)option.bytes, option.len_bytes);
	buffer_deinit(&option);
	if (!words || !words[1]) {
		free(words);
		return &error_no_memory;
	}
	words[0] = argv[0];
	words[2] = compile_huge_methods;
	memcpy(words + 3, argv + 1, (count - 1) * sizeof *words);
	*ret = words;
	return NULL;
}

void run_java_free(char **arguments)
{
	if (arguments)
		free(arguments[1]);
	free(arguments);
}
