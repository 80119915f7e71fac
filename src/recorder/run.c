/* run.c - reads WAYMARK_RUN and maps the page that it names. */
#include "recorder/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/text.h"

/* Written when the environment is read; the state of the agent by the main thread before main, and by attach. */
static struct {
	uint64_t session;
	uint64_t pid;
	struct wm1_run_page *page;
	enum wmk_agent agent;
} run;

/* The number at *text and the comma behind it. False: there is none. */
static bool take_number(const char **text, unsigned int base, uint64_t *ret)
{
	const char *at = *text;

	for (*ret = 0;; at++) {
		unsigned int digit = *at >= '0' && *at <= '9'   ? (unsigned int)(*at - '0')
				     : *at >= 'a' && *at <= 'f' ? (unsigned int)(*at - 'a' + 10)
								: base;

		if (digit >= base)
			break;
		*ret = *ret * base + digit;
	}
	if (at == *text || (*at && *at != ','))
		return false;
	*text = at + (*at == ',');
	return true;
}

/* Sealed: it is there for as long as it is mapped, so that to touch it is no SIGBUS. */
static bool is_page(int fd)
{
	struct stat st;
	long seals = wmrt_sys3(SYS_fcntl, fd, F_GET_SEALS, 0);

	return seals >= 0 && seals & F_SEAL_SHRINK && wmrt_sys3(SYS_fstat, fd, (long)&st, 0) == 0 &&
	       st.st_size == WM1_RUN_PAGE_BYTES;
}

static void map_page(uint64_t fd)
{
	char path[64];
	struct wmrt_text text = {path, sizeof path, 0};
	long opened;

	wmrt_text_add(&text, "/proc/");
	wmrt_text_number(&text, run.pid, 10, 1);
	wmrt_text_add(&text, "/fd/");
	wmrt_text_number(&text, fd, 10, 1);
	opened = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
	if (opened < 0)
		return;
	if (is_page((int)opened))
		run.page = wmrt_map(NULL, WM1_RUN_PAGE_BYTES, 1, (int)opened, 0);
	wmrt_sys3(SYS_close, opened, 0, 0);
}

void wmrt_run_start(void)
{
	const char *text = getenv(WM1_RUN_VARIABLE);
	uint64_t fd;

	if (!text || !take_number(&text, 16, &run.session) || !take_number(&text, 10, &run.pid) ||
	    !take_number(&text, 10, &fd)) {
		run.session = run.pid = 0;
		return;
	}
	map_page(fd);
	if (run.page)
		__atomic_fetch_add(&run.page->started, 1, __ATOMIC_RELAXED);
}

uint64_t wmrt_run_session(void)
{
	return run.session;
}

uint32_t wmrt_run_pid(void)
{
	return (uint32_t)run.pid;
}

/* True for the first. */
static bool count(uint32_t *counter, uint32_t *reason, uint32_t why)
{
	uint32_t none = 0;

	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(reason, &none, why, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void wmrt_run_tell_file(uint64_t error)
{
	if (run.page && error)
		count(&run.page->failures, &run.page->failure, (uint32_t)error);
	else if (run.page)
		__atomic_fetch_add(&run.page->recordings, 1, __ATOMIC_RELAXED);
}

void wmrt_run_tell_agent(enum wmk_agent state, struct wmk_header *(*file_header)(void))
{
	struct wmk_header *header;

	/* First: a tick may create the file meanwhile. */
	run.agent = state;
	header = file_header();
	if (header)
		__atomic_store_n(&header->agent, state, __ATOMIC_RELAXED);
	if (run.page && state == WMK_AGENT_OK)
		__atomic_fetch_add(&run.page->agents, 1, __ATOMIC_RELAXED);
	if (run.page && state > WMK_AGENT_NOT_BEGUN)
		count(&run.page->agents_failed, &run.page->agent, state);
}

enum wmk_agent wmrt_run_agent(void)
{
	return run.agent;
}

bool wmrt_run_is_watched(void)
{
	return run.page && !wmrt_process.is_sealed;
}

void wmrt_run_tell_missed(enum wm1_missed_reason reason, const char *path)
{
	struct wmrt_text text = {run.page->missed_path, sizeof run.page->missed_path, 0};

	if (count(&run.page->missed, &run.page->missed_reason, reason))
		wmrt_text_add(&text, path);
}
