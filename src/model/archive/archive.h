/*
 * archive.h - .wmka files: what a report shows of recordings, with all names and lines and the text of these, without the programs and debug files that they came
 * from. docs/format.md describes the bytes.
 */
#ifndef WM_MODEL_ARCHIVE_ARCHIVE_H
#define WM_MODEL_ARCHIVE_ARCHIVE_H

#include "model/base/profile.h"
#include "object/file.h"

#define ARCHIVE_MAGIC "\x89WMA\r\n\x1a\n" /* 8 bytes */
enum {
	ARCHIVE_MAGIC_BYTES = 8,
	ARCHIVE_VERSION = 3, /* 1, which has no labels, and 2, which has no text of lines, are read, too */
	ARCHIVE_HEADER_BYTES =
		24, /* the magic, 32 bits of version, 32 that are 0, 64 of length: of the body as it is unpacked */
};

/* Of a metric. */
enum archive_flag {
	ARCHIVE_MAXIMUM = 1 << 0,
	ARCHIVE_ESTIMATE = 1 << 1,
	ARCHIVE_HAS_EVENTS = 1 << 2, /* its numbers are sums of events that are there, too */
	ARCHIVE_OF_HEAP = 1 << 3,
};

struct archive_options {
	bool is_anonymous; /* no directories of programs, files and recordings, no values of events, no names of threads, no labels, no text of lines */
};

/* Adds to the profile the text of the lines of its frames, and of SOURCE_AROUND lines around each, of all files that are found but those of
 * which an archive has given it some. */
struct error *archive_add_sources(struct profile *p, struct sources *sources);
/* Appends the whole profile to out. ERROR_OVERFLOW: a sum of the body that does not fit. */
struct error *archive_write(const struct profile *p, const struct archive_options *options, struct buffer *out);

/* By the first bytes. */
bool archive_is_one(const struct mapped_file *file);
/* Adds all that an archive has to the profile, which owns copies. The bytes are anybody's. */
struct error *archive_add(struct profile *p, const char *path, const struct mapped_file *file);

#endif
