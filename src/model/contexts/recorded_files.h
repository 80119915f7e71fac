/*
 * recorded_files.h - the files of recorded code (images of kind WMK_IMAGE_BINARY), whose symbols and lines name what the records
 * do not. Each is looked for once, for all recordings that are read.
 */
#ifndef WM_MODEL_CONTEXTS_RECORDED_FILES_H
#define WM_MODEL_CONTEXTS_RECORDED_FILES_H

#include "base/hashmap.h"
#include "format/wmk.h"
#include "object/symbols.h"

/* One of them is not NULL. */
struct recorded_file {
	char *path; /* where it was loaded */
	struct build_id build_id;
	struct symbols *symbols;
	struct error *why; /* there are none: the file is not there, of another build, or damaged */
};
VEC_DECLARE(recorded_file_vec, struct recorded_file *);

struct recorded_files {
	const struct object_search *search; /* not owned */
	struct recorded_file_vec files;
	struct hashmap map; /* by path and build id: index in files */
};

void recorded_files_init(struct recorded_files *files, const struct object_search *search);
void recorded_files_deinit(struct recorded_files *files);
/* The file of an image; *ret is NULL for one that is no file ([vdso]). Fails only for want of memory. */
struct error *recorded_files_get(struct recorded_files *files, const struct wmk_file_image *image,
				 const struct recorded_file **ret);

#endif
