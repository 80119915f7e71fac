/* install_paths.c - finds Waymark's own files from /proc/self/exe. */
#include "cli/install_paths.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct layout {
	const char *plugin;
	const char *runtime_dir;
	const char *agent_dir;
	const char *sampler_dir;
	const char *jvm_dir;
	const char *slice_dir;
	const char *include_dir;
};

/* Relative to the directory of the executable: the build's own tree, then the installed one, which can be moved as a whole. TO_PREFIX
 * leads from the configured bindir to the prefix, PRIVATE_DIR and INCLUDE_DIR from there. */
static const struct layout layouts[] = {
	{"src/instrument/waymark-pass.so", "src/runtime", "src/agent", "src/sampler", "src/jvm", "src/cli", "include"},
	{TO_PREFIX PRIVATE_DIR "/waymark-pass.so", TO_PREFIX PRIVATE_DIR, TO_PREFIX PRIVATE_DIR, TO_PREFIX PRIVATE_DIR,
	 TO_PREFIX PRIVATE_DIR, TO_PREFIX PRIVATE_DIR, TO_PREFIX INCLUDE_DIR},
};

static char *join(const char *dir, const char *name)
{
	char *path;
	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

void install_paths_deinit(struct install_paths *paths)
{
	free(paths->plugin);
	free(paths->runtime_dir);
	free(paths->agent_dir);
	free(paths->sampler_dir);
	free(paths->jvm_dir);
	free(paths->slice_dir);
	free(paths->include_dir);
}

struct error *install_paths_find(struct install_paths *ret)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (len < 0)
		return error_os(errno, "/proc/self/exe");
	exe[len] = '\0';
	const char *dir = dirname(exe);
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
		struct install_paths paths = {
			.plugin = join(dir, layouts[i].plugin),
			.runtime_dir = join(dir, layouts[i].runtime_dir),
			.agent_dir = join(dir, layouts[i].agent_dir),
			.sampler_dir = join(dir, layouts[i].sampler_dir),
			.jvm_dir = join(dir, layouts[i].jvm_dir),
			.slice_dir = join(dir, layouts[i].slice_dir),
			.include_dir = join(dir, layouts[i].include_dir),
		};
		if (!paths.plugin || !paths.runtime_dir || !paths.agent_dir || !paths.sampler_dir || !paths.jvm_dir ||
		    !paths.slice_dir || !paths.include_dir) {
			install_paths_deinit(&paths);
			return &error_no_memory;
		}
		if (!access(paths.plugin, R_OK)) {
			*ret = paths;
			return NULL;
		}
		install_paths_deinit(&paths);
	}
	return error_create(ERROR_NOT_FOUND, "%s: found neither %s nor %s; build or install Waymark as a whole", dir,
			    layouts[0].plugin, layouts[1].plugin);
}
