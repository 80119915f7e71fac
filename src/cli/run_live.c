/* run_live.c - files for what the program prints, and the recordings of its run for the view. */
#include "cli/run_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/live_options.h"

struct watched {
	const struct recordings_place *place;
	pid_t pid;
	int status;
	bool has_ended;
};

static struct error *find(void *data, struct recording_paths *ret)
{
	const struct watched *w = data;

	return recordings_find(w->place, ret);
}

static bool has_ended(void *data)
{
	struct watched *w = data;

	if (!w->has_ended)
		w->has_ended = waitpid(w->pid, &w->status, WNOHANG) == w->pid;
	return w->has_ended;
}

/* The view reads the keys. */
static int add_actions(struct run_live *l)
{
	int failed = 0;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && !failed; fd++)
		if (l->output >= 0 && isatty(fd))
			failed = posix_spawn_file_actions_adddup2(&l->actions, l->output, fd);
	if (!failed && l->output >= 0 && isatty(STDIN_FILENO))
		failed = posix_spawn_file_actions_addopen(&l->actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	return failed;
}

struct error *run_live_begin(struct run_live *l)
{
	int failed = posix_spawn_file_actions_init(&l->actions);

	l->output = -1;
	if (failed)
		return error_os(failed, "--watch");
	if (isatty(STDOUT_FILENO)) {
		l->output = memfd_create("waymark-run", MFD_CLOEXEC);
		if (l->output < 0 || fcntl(l->output, F_SETFL, O_APPEND) != 0)
			return error_os(errno, "a file for what the program prints");
	}
	failed = add_actions(l);
	return failed ? error_os(failed, "--watch") : NULL;
}

struct error *run_live_show(const struct recordings_place *place, const char *program, pid_t pid, int *ret_status,
			    bool *ret_has_ended)
{
	const struct live_options options = LIVE_OPTIONS_DEFAULT;
	struct watched w = {.place = place, .pid = pid};
	struct error *err =
		live_view("run", &options,
			  &(struct live_source){.title = program, .data = &w, .find = find, .has_ended = has_ended});

	*ret_status = w.status;
	*ret_has_ended = w.has_ended;
	return err;
}

void run_live_end(struct run_live *l)
{
	char block[65536];
	ssize_t got;
	off_t off = 0;

	while (l->output >= 0 && (got = pread(l->output, block, sizeof block, off)) > 0) {
		fwrite(block, 1, (size_t)got, stdout);
		off += got;
	}
	fflush(stdout);
	if (l->output >= 0)
		close(l->output);
	posix_spawn_file_actions_destroy(&l->actions);
}
