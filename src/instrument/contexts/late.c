/*
 * late.c - roots that set their id late.
 *
 * A root into which no call is encoded (is_outer) has the id 0 whenever it runs, whoever has entered it. The id matters only at its
 * sites, and most functions that are reached by pointer come to these seldom: comparison functions, handlers that allocate when they
 * fail. Such a root leaves the state as it is when it is entered, also a call that its caller has put off, and does in front of the
 * first site of each block what another root does first:
 *
 *      compare:  ...                          entered from qsort, which main has put off
 *                rare:                        a block
 *                call  wm1.enter_here         pushes main's call of qsort, if that is still put off;  T.id = 0
 *                call  report                 the site
 *
 * Doing so twice changes nothing. Until then the state is the caller's, as it is in a function without a site.
 */
#include "instrument/contexts/program.h"

/* Runs of the code in front of sites for each entry, above which a root sets its id when it is entered. */
static const double MOST_STARTS = 0.6;

/* Without a number: nothing can be captured below it. */
static bool needs_id(const struct program *p, const struct site *site)
{
	return site->kind != META_SITE_CALL || p->functions.items[site->callee].node != NO_INDEX;
}

bool late_starts_at(const struct program *p, const struct function *f, const struct site *site)
{
	const struct site *first = &p->sites.items[f->first_site];
	if (!f->is_late || !needs_id(p, site))
		return false;
	for (const struct site *after = site; after > first && after[-1].block == site->block; after--)
		if (needs_id(p, &after[-1]))
			return false;
	return true;
}

/* The callee leaves the state as it was, so what runs behind the site may go on without an id. */
static bool is_plain(const struct program *p, const struct site *site)
{
	if (site->is_must_tail)
		return false;
	return site->callee == NO_INDEX ||
	       !(p->functions.items[site->callee].clobbers_id || p->functions.items[site->callee].clobbers_top);
}

static bool is_late(const struct program *p, struct function *f)
{
	f->is_late = true;
	f->starts = 0;
	for (uint32_t i = 0; i < f->site_count; i++) {
		const struct site *site = &p->sites.items[f->first_site + i];
		if (!is_plain(p, site))
			return false;
		if (late_starts_at(p, f, site))
			f->starts += site->frequency;
	}
	return f->starts <= MOST_STARTS;
}

void late_find(struct program *p)
{
	for (size_t i = 0; i < p->functions.count; i++) {
		struct function *f = &p->functions.items[i];
		if (f->is_outer && !f->is_opaque && !f->recovers)
			f->is_late = is_late(p, f);
	}
}
