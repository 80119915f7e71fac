/*
 * file_name.c - finds a free name.
 *
 * Where thousands of processes have one name (containers, in which each has pid 1), names are not tried one by one: the numbers that are taken
 * are mostly without gaps, so a free one is looked for at distances 1, 2, 4, ... of a taken one, and the border between both by halving. It
 * need not be the first free number where there are gaps.
 */
#include "recorder/file_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "recorder/config.h"
#include "recorder/new_file.h"
#include "recorder/sys.h"

enum {
	ATTEMPTS = 1000, /* each fails because another process took the name just now */
};
static const uint32_t MOST_NUMBER = UINT32_C(1) << 30;

/* Something is there: a link, too. What cannot be seen is found out when the name is taken. */
static bool is_taken(uint32_t pid, uint32_t number, char *path, size_t size)
{
	struct stat st;

	return wmrt_config_path(pid, number, path, size) &&
	       wmrt_sys6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0) == 0;
}

/* The number `taken` is. */
static uint32_t free_after(uint32_t pid, uint32_t taken, char *path, size_t size)
{
	uint32_t step = 1, free;

	while (taken + step < MOST_NUMBER && is_taken(pid, taken + step, path, size)) {
		taken += step;
		step *= 2;
	}
	for (free = taken + step; free - taken > 1;) {
		uint32_t middle = taken + (free - taken) / 2;

		if (is_taken(pid, middle, path, size))
			taken = middle;
		else
			free = middle;
	}
	return free;
}

int wmrt_file_name_take(uint32_t pid, const char *temp, char *path, size_t size)
{
	int rc = -EEXIST;

	for (uint32_t number = 0, attempt = 0; rc == -EEXIST && attempt < ATTEMPTS && number < MOST_NUMBER; attempt++) {
		if (!wmrt_config_path(pid, number, path, size))
			return -ENAMETOOLONG;
		rc = wmrt_new_file_name(temp, path);
		if (rc == -EEXIST)
			number = free_after(pid, number, path, size);
	}
	return rc;
}
