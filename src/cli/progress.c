/* progress.c - a progress line, redrawn ten times a second at most, after the first second. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/progress.h"

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

void progress_start(struct progress *p, const char *what)
{
	*p = (struct progress){.what = what, .is_terminal = isatty(STDERR_FILENO)};
	clock_gettime(CLOCK_MONOTONIC, &p->start);
}

void progress_update(struct progress *p, uint64_t done, uint64_t total)
{
	struct timespec now;

	if (!p->is_terminal || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return;
	if (seconds_between(&p->start, &now) < 1 || (p->is_shown && seconds_between(&p->last, &now) < 0.1))
		return;
	p->last = now;
	p->is_shown = true;
	fputs("\r\033[K", stderr);
	plain_print(stderr, p->what);
	if (total)
		fprintf(stderr, ": %.0f %%", 100.0 * (double)done / (double)total);
	else
		fprintf(stderr, ": %" PRIu64, done);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->is_shown)
		fputs("\r\033[K", stderr);
	p->is_shown = false;
}
