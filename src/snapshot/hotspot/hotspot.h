/*
 * hotspot.h - a HotSpot virtual machine that runs: what it is, and commands to it by HotSpot's own attach protocol.
 *
 *      command                                     virtual machine of process N, as N is called in its own namespace
 *      /tmp/.attach_pidN, made by its user   <---  looked for when SIGQUIT arrives: without it, a dump of threads
 *      /tmp/.java_pidN                       --->  the socket of its thread "Attach Listener", which begins then and stays
 *      1 load PATH true OPTIONS              --->  dlopen(PATH), Agent_OnAttach(OPTIONS)
 *
 * Files are those of the process's own root directory, and the command is of the process's user while it makes and opens them: so it
 * reaches containers and, as root, other users. No thread of the process is stopped, and its memory is not read.
 *
 * The virtual machine is one that answers: each step has a time limit. Not thread-safe: the user of the whole process changes meanwhile.
 */
#ifndef WM_SNAPSHOT_HOTSPOT_H
#define WM_SNAPSHOT_HOTSPOT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct hotspot {
	pid_t pid;
	uint32_t number; /* of the process, in the innermost namespace of process numbers that it is in */
	uid_t user;      /* the effective ones of the process, by which it knows its friends */
	gid_t group;
	int process;          /* refers to the process, whatever has its number later */
	int root;             /* its root directory */
	bool handles_sigquit; /* so it has a thread that can begin the listener */
};

/* True: the process has mapped a libjvm.so of HotSpot. False, too: its maps cannot be read. */
bool hotspot_is_there(pid_t pid);
/* Refuses a process that has ended, is stopped, or belongs to another user. */
struct error *hotspot_open(pid_t pid, struct hotspot *ret);
void hotspot_close(struct hotspot *h);

/* Between the two the command has the user and the group of the process. */
struct hotspot_self {
	uid_t user;
	gid_t group;
};
struct error *hotspot_become(const struct hotspot *h, struct hotspot_self *ret);
void hotspot_become_self(const struct hotspot_self *self);

/* A file by its absolute path in the process's root directory; links are followed inside of it. -1, and errno. */
int hotspot_open_there(const struct hotspot *h, const char *path, int flags);
/* The path of an open file or directory as the process has it, in ret. False: it is not known. */
bool hotspot_path_there(const struct hotspot *h, int fd, char ret[PATH_MAX]);
/* The path of a mapped file whose name is that, as the process has opened it. False: there is none. */
bool hotspot_find_mapped(const struct hotspot *h, const char *name, char ret[PATH_MAX]);

/*
 * Has the virtual machine load the library and call its Agent_OnAttach, or call it again. Takes until end_ns (CLOCK_MONOTONIC) at most. An
 * error that has *ret_is_sent says nothing of whether it will be loaded. options: a path.
 */
struct error *hotspot_load(const struct hotspot *h, uint64_t end_ns, const char *library, const char *options,
			   bool *ret_is_sent);

/*
 * A directory of the process's user alone, in its file system, for what it and the command tell each other. An earlier one whose command
 * has died is removed.
 */
struct hotspot_folder {
	int parent, fd;
	char path[PATH_MAX]; /* as the process has it; its last part is the name in the parent */
};
struct error *hotspot_folder_make(const struct hotspot *h, struct hotspot_folder *ret);
/* Makes a file; the process may read and execute it. */
struct error *hotspot_folder_write(const struct hotspot *h, const struct hotspot_folder *folder, const char *name,
				   const void *bytes, size_t len_bytes);
struct error *hotspot_folder_copy(const struct hotspot *h, const struct hotspot_folder *folder, const char *name,
				  const char *from);
/* With all files in it. */
void hotspot_folder_remove(const struct hotspot *h, struct hotspot_folder *folder);

#endif
