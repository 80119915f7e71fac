/* run_session.c - makes the number and the page, and puts into words what processes have counted. */
#include "cli/run_session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/message.h"
#include "format/wmk.h"

/* Sets the file's size. At RLIMIT_FSIZE the kernel sends a signal, too. Returns 0 or errno. */
static int set_size(int fd)
{
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	int errnum = ftruncate(fd, WM1_RUN_PAGE_BYTES) == 0 ? 0 : errno;

	signal(SIGXFSZ, before);
	return errnum;
}

/* Where not even this page may be that large, no recording may: the page is nobody else's, and says so. */
static struct error *make_page(int fd, struct wm1_run_page **ret)
{
	int errnum = set_size(fd);
	void *page;

	if (!errnum && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		errnum = errno;
	if (errnum && errnum != EFBIG)
		return error_os(errnum, "a page of memory for the processes of the run");
	page = mmap(NULL, WM1_RUN_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | (errnum ? MAP_ANONYMOUS : 0),
		    errnum ? -1 : fd, 0);
	if (page == MAP_FAILED)
		return error_os(errno, "a page of memory for the processes of the run");
	*ret = page;
	if (errnum) {
		(*ret)->failures = 1;
		(*ret)->failure = WMK_DROP_FILE_SIZE;
	}
	return NULL;
}

struct error *run_session_begin(struct run_session *ret)
{
	struct run_session s = {0};
	struct error *err;
	char text[64];
	int fd;

	if (getrandom(&s.number, sizeof s.number, 0) != sizeof s.number || !s.number)
		return error_os(errno, "random bytes");
	fd = memfd_create("waymark-run", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return error_os(errno, "a page of memory for the processes of the run");
	snprintf(text, sizeof text, "%" PRIx64 ",%d,%d", s.number, (int)getpid(), fd);
	err = make_page(fd, &s.page);
	if (!err && setenv(WM1_RUN_VARIABLE, text, 1) != 0)
		err = &error_no_memory;
	if (err) {
		run_session_end(&s);
		close(fd);
		return err;
	}
	*ret = s; /* the descriptor stays open: processes find the page by it */
	return NULL;
}

void run_session_end(struct run_session *s)
{
	if (s->page)
		munmap(s->page, WM1_RUN_PAGE_BYTES);
	s->page = NULL;
}

static uint32_t get(const uint32_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Where that is a word of its own. */
static char *failure_text(const struct wm1_run_page *page, const char *dir)
{
	uint32_t failure = get(&page->failure);
	char *ret;
	int len;

	if (failure == WMK_DROP_LIMIT)
		len = asprintf(&ret, "its size limit is too low (--limit, WAYMARK_LIMIT)");
	else if (failure == ENOENT)
		len = asprintf(&ret, "%s went away", dir);
	else
		len = asprintf(&ret, "no file could be made in %s: %s", dir, wmk_drop_text(failure));
	return len < 0 ? NULL : ret;
}

static char *agent_text(const struct wm1_run_page *page)
{
	char *ret;

	return asprintf(&ret, "the agent did not start: %s", wmk_agent_text(get(&page->agent))) < 0 ? NULL : ret;
}

char *run_session_why_nothing(const struct run_session *s, const char *dir, bool has_agent, const char *otherwise)
{
	const struct wm1_run_page *page = s->page;
	char *ret;
	int len;

	if (get(&page->failures))
		return failure_text(page, dir);
	if (get(&page->agents_failed))
		return agent_text(page);
	if (get(&page->recordings))
		len = asprintf(&ret, "its recording is not in %s any more: it was moved or removed meanwhile", dir);
	else if (has_agent && !get(&page->started))
		len = asprintf(&ret,
			       "the agent did not come into it (is it a static program, or one of another C library "
			       "or another user, or was its environment emptied?)");
	else if (has_agent && !get(&page->agents))
		len = asprintf(&ret, "the agent did not start: %s", wmk_agent_text(WMK_AGENT_NOT_BEGUN));
	else
		len = asprintf(&ret, "%s", otherwise);
	return len < 0 ? NULL : ret;
}

static void say_processes(uint32_t count, const char *what, char *why)
{
	message_warn("run", "%" PRIu32 " %s %s: %s", count, count == 1 ? "process" : "processes", what,
		     why ? why : "not enough memory");
	free(why);
}

void run_session_say_missing(const struct run_session *s, const char *dir)
{
	const struct wm1_run_page *page = s->page;

	if (get(&page->failures))
		say_processes(get(&page->failures), "could make no recording", failure_text(page, dir));
	if (get(&page->agents_failed))
		say_processes(get(&page->agents_failed), "recorded no contexts", agent_text(page));
}

void run_session_say_missed(const struct run_session *s)
{
	static const char *const reasons[] = {"",
#define WM1_MISSED_REASON(name, text) text,
					      WM1_MISSED_REASONS(WM1_MISSED_REASON)
#undef WM1_MISSED_REASON
	};
	uint32_t count = get(&s->page->missed), reason = get(&s->page->missed_reason);

	if (count && reason < WM1_MISSED_END)
		message_warn("run", "%" PRIu32 " started %s not recorded, %s%.*s: %s", count,
			     count == 1 ? "program is" : "programs are", count == 1 ? "" : "the first ",
			     (int)sizeof s->page->missed_path, s->page->missed_path, reasons[reason]);
}
