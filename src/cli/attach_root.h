/*
 * attach_root.h - processes that see another file system than the command does: containers, chroot.
 */
#ifndef WM_CLI_ATTACH_ROOT_H
#define WM_CLI_ATTACH_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"

/* *ret: under that path the process has another file than the command, or none. */
struct error *attach_root_is_apart(pid_t pid, const char *path, bool *ret);
/* What is needed of its file system. */
struct error *attach_root_check(pid_t pid);
/* As open(2) does it for the process, links as it sees them; -1 with errno. */
int attach_root_open(pid_t pid, const char *path, int flags);
/* recording_pattern for a place in its file system: an absolute one. NULL: /tmp. */
struct error *attach_root_pattern(pid_t pid, const char *place, struct buffer *ret);
/* The bytes of the command's own file. */
struct error *attach_root_read(const char *path, struct buffer *ret);
/* They become the content of a file that the process has open under that number. */
struct error *attach_root_fill(pid_t pid, int fd, const struct buffer *bytes);

#endif
