/*
 * profile.h - reads back the .wmk that a test wrote, through src/format.
 */
#ifndef WM_TESTS_RUNTIME_PROFILE_H
#define WM_TESTS_RUNTIME_PROFILE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "format/wmk.h"
#include "waymark.h"
#include "waymark/abi.h"

struct profile {
	struct wmk_file file;
	void *bytes;
	size_t len_bytes;
};

/* An empty directory of this test's own, in WAYMARK_OUT. Call before anything is recorded, from a program that
 * re-executes itself: the runtime reads the variable at start. */
__attribute__((unused)) static const char *profile_dir(void)
{
	return getenv("WAYMARK_OUT");
}

__attribute__((unused)) static int profile_open(const char *path, struct profile *p)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0) {
		check_that(0, __FILE__, __LINE__, path);
		return 0;
	}
	p->len_bytes = (size_t)st.st_size;
	p->bytes = mmap(NULL, p->len_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return CHECK_OK(wmk_read(p->bytes, p->len_bytes, path, &p->file));
}

__attribute__((unused)) static void profile_close(struct profile *p)
{
	wmk_file_deinit(&p->file);
	munmap(p->bytes, p->len_bytes);
}

/* The file in WAYMARK_OUT of that process and attempt; false if there is none. */
__attribute__((unused)) static int profile_path(pid_t pid, const char *suffix, char path[512])
{
	DIR *dir = opendir(profile_dir());
	struct dirent *entry;
	char end[64];
	int found = 0;

	snprintf(end, sizeof end, "-%d%s.wmk", (int)pid, suffix);
	while (dir && (entry = readdir(dir)) && !found) {
		size_t len = strlen(entry->d_name);

		if (len > strlen(end) && strcmp(entry->d_name + len - strlen(end), end) == 0) {
			snprintf(path, 512, "%s/%s", profile_dir(), entry->d_name);
			found = 1;
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Opens the file of that process. */
__attribute__((unused)) static int profile_of(pid_t pid, const char *suffix, struct profile *p)
{
	char path[512];

	return CHECK(profile_path(pid, suffix, path)) && profile_open(path, p);
}

/* Walks a prefix outwards: writes "site*run" outermost first after the root's number, sites relative to base. */
__attribute__((unused)) static void profile_stack(const struct profile *p, uint32_t base, uint32_t prefix, char *out,
						  size_t size)
{
	struct wmk_node node;
	char rest[4096] = "", line[4096];

	while (prefix >= WM_PREFIX_FIRST && CHECK(wmk_find_node(&p->file, prefix, &node))) {
		snprintf(line, sizeof line, " %u/%llu*%u%s", node.site - base, (unsigned long long)node.id, node.run,
			 rest);
		snprintf(rest, sizeof rest, "%s", line);
		prefix = node.parent;
	}
	snprintf(out, size, "%u%s", prefix, rest);
}

#endif
