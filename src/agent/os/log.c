/* log.c - writes lines to standard error. The descriptor is looked at each time: the program may have closed it and opened another file. */
#include "agent/os/log.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "recorder/sys.h"

enum {
	LEAST_FD = 900, /* most programs may have 1024 */
};

/* Written before main, and when the agent is attached or detached. */
static int kept = -1;
static struct stat known;

void log_open(bool is_kept)
{
	if (fstat(STDERR_FILENO, &known) != 0)
		known.st_ino = 0;
	if (!known.st_ino || !is_kept)
		return;
	kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, LEAST_FD);
	if (kept < 0)
		kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static bool is_known(int fd)
{
	struct stat now = {0};

	return fd >= 0 && wmrt_sys3(SYS_fstat, fd, (long)&now, 0) == 0 && now.st_dev == known.st_dev &&
	       now.st_ino == known.st_ino;
}

void log_close(void)
{
	if (is_known(kept))
		wmrt_sys3(SYS_close, kept, 0, 0);
	kept = -1;
}

void log_line(struct wmrt_text *text)
{
	plain_make(text->data); /* names of files come from the file system */
	wmrt_text_char(text, '\n');
	if (wmrt_text_fits(text) && is_known(kept))
		wmrt_sys3(SYS_write, kept, (long)text->data, (long)text->len);
}

void log_always(struct wmrt_text *text)
{
	plain_make(text->data); /* names of files come from the file system */
	wmrt_text_char(text, '\n');
	if (wmrt_text_fits(text) && known.st_ino && (is_known(kept) || is_known(STDERR_FILENO)))
		wmrt_sys3(SYS_write, is_known(kept) ? kept : STDERR_FILENO, (long)text->data, (long)text->len);
}
