/*
 * held_file.h - a descriptor of the agent's that stays open in somebody else's process, which may close it or give its number to a file
 * of its own: each use asks first whether it still is what it was.
 *
 * Under the agent's lock.
 */
#ifndef WM_AGENT_HELD_FILE_H
#define WM_AGENT_HELD_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

struct held_file {
	int fd; /* -1: none */
	dev_t dev;
	ino_t ino;
};

/* False: it cannot be opened. What it was before is closed. */
bool held_file_open(struct held_file *file, const char *path, int flags);
/* False: the descriptor is gone, or not the agent's any more. */
bool held_file_stat(const struct held_file *file, struct stat *ret);
/* Nothing, when it is not the agent's. */
void held_file_close(struct held_file *file);

#endif
