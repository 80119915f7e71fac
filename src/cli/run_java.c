/* run_java.c - knows a `java` by the launcher's library of its JDK. */
#include "cli/run_java.h"

#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

char *run_java_find_agent(const struct run_clients *clients, const char *program)
{
	bool is_other = clients->is_heap || clients->is_with_agent || clients->is_without_agent ||
			(clients->sample_hz && !clients->is_check);

	return is_other || !is_java(program) ? NULL : find_agent();
}

struct error *run_java_arguments(const struct run_clients *clients, const char *agent, char **argv, char ***ret)
{
	char *option = NULL, **words;
	size_t count = 0;

	while (argv[count])
		count++;
	words = calloc(count + 2, sizeof *words);
	if (!words || asprintf(&option, "-agentpath:%s%s", agent, clients->is_check ? "=check" : "") < 0) {
		free(words);
		return &error_no_memory;
	}
	words[0] = argv[0];
	words[1] = option;
	memcpy(words + 2, argv + 1, (count - 1) * sizeof *words);
	*ret = words;
	return NULL;
}

void run_java_free(char **arguments)
{
	if (arguments)
		free(arguments[1]);
	free(arguments);
}
