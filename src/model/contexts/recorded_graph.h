/*
 * recorded_graph.h - recorded code: functions and calls that the records of a .wmk describe, not a section of a file
 * (docs/format.md, Recorded code). All recorded code of a process is one image. Each epoch has an encoding of its call graph.
 *
 * The encoding of an epoch is read when a context of that epoch is first decoded, in time proportional to the records of its dictionary and of
 * those that this one changes. An error in it fails each context of that
 * epoch, and no other.
 */
#ifndef WM_MODEL_CONTEXTS_RECORDED_GRAPH_H
#define WM_MODEL_CONTEXTS_RECORDED_GRAPH_H

#include "format/wmk.h"
#include "model/contexts/context_graph.h"
#include "model/contexts/recorded_files.h"

struct recorded;

/*
 * *ret is NULL when the file has no recorded code. w and files must outlive the image. files: NULL opens none. ERROR_FORMAT when its records contradict
 * each other.
 */
struct error *recorded_image_create(const struct wmk_file *w, struct recorded_files *files, struct image **ret);
void recorded_destroy(struct recorded *r);

/* Index in image->meta.sites of a site number of the process; 0: it is no site of recorded code. */
uint32_t recorded_find_site(const struct image *image, uint32_t site);
/* The site's number in the process. */
uint32_t recorded_site_number(const struct recorded *r, uint32_t index);

/*
 * Appends the frames of a site whose line is in no record, as the file's DWARF has them: the function, then what is inlined there.
 * *ret: there are some.
 */
struct error *recorded_append_lines(struct image *image, uint32_t site, struct frame_vec *frames, bool *ret);
/* Where a site is. Addresses are less that of the file's ELF header. */
struct recorded_place {
	const struct recorded_file *file; /* NULL: in none */
	uint64_t function;                /* where its function begins, or a part of it */
	uint64_t address;
};
struct recorded_place recorded_place_of(const struct image *image, uint32_t site);
/* The file of a function; NULL: in none. */
const struct recorded_file *recorded_file_of(const struct image *image, uint32_t function);
/* The file of the i-th image of the process; *ret is NULL if that has none. *ret_is_there: there are so many. */
struct error *recorded_file_at(const struct image *image, uint32_t i, const struct recorded_file **ret,
			       bool *ret_is_there);
/* What is shown as the image of a function: a path, or in brackets code of no file. NULL when not known. */
const char *recorded_image_name(const struct image *image, uint32_t function);
/* The file is a library that Waymark has brought into the process, such as its malloc. Its functions are in no
 * context that is shown, and have no names. */
bool recorded_is_own(const char *path);
/* Why the functions of a file have no names: that of the i-th such file, NULL behind the last. */
const struct error *recorded_why_unnamed(const struct image *image, size_t i);

/* image_decode_piece of recorded code. ERROR_NOT_FOUND: the epoch has no dictionary (yet). */
struct error *recorded_decode(struct image *image, uint32_t epoch, uint32_t function, uint64_t id,
			      struct context_piece *ret);
/* *ret: the dictionary of the epoch has a call from the site to the function, and this call pushes, or need not. */
struct error *recorded_is_pushed_call(struct image *image, uint32_t epoch, uint32_t site, uint32_t callee,
				      bool may_be_encoded, bool *ret);

#endif
