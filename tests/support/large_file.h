/*
 * large_file.h - recordings that are large, or that stand for much more than they hold: one of millions of honest contexts, and
 * crafted ones, each of which once kept a report busy for minutes.
 */
#ifndef WM_TESTS_LARGE_FILE_H
#define WM_TESTS_LARGE_FILE_H

#include "support/builder.h"

/* A heap record and a context of about 25 frames each, every one another. */
void large_contexts(struct wmk_builder *b, uint32_t count);

enum crafted {
	CRAFTED_RUNS,    /* prefixes of millions of frames, each another way from the root, with a capture on each */
	CRAFTED_REPEATS, /* one prefix of millions of frames, with many captures */
	CRAFTED_EPOCHS,  /* an epoch for each event, and many functions and calls in all of them */
	CRAFTED_NAMES,   /* functions that share texts of 60,000 bytes */
	CRAFTED_METRICS, /* events of a name and a context each */
	CRAFTED_CHAINS,  /* long chains of calls in one piece, with many captures at their ends */
	CRAFTED_END,
};
/* Of about that many bytes. */
void large_crafted(struct wmk_builder *b, enum crafted kind, uint32_t bytes);

#endif
