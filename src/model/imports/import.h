/*
 * import.h - files that are no recordings, read into a profile: archives, folded stacks, what pprof reads, the text of `perf script`. The content of a file
 * says which it is.
 */
#ifndef WM_MODEL_IMPORTS_IMPORT_H
#define WM_MODEL_IMPORTS_IMPORT_H

#include "model/base/profile.h"
#include "object/file.h"

/*
 * Adds the file to the profile, which owns copies of all. *ret_is_known is false, and nothing was added, where the file is of none of the
 * formats. Errors name the path and the line.
 */
struct error *import_file(struct profile *p, const char *path, const struct mapped_file *file, bool *ret_is_known);

/*
 * It is of another tool, and no archive. Such files come after recordings and archives, so that their numbers are added to metrics that those
 * have in groups.
 */
bool import_is_foreign(const struct mapped_file *file);

/* Parts of it, by format. */
/* The profile's metric of that name and unit, or a new one that is a group of its own. */
struct error *import_metric(struct profile *p, const char *name, enum metric_unit unit, uint32_t *ret);
bool import_is_folded(const struct mapped_file *file);
bool import_is_perf(const struct mapped_file *file);
bool import_is_pprof(const struct mapped_file *file);
struct error *import_folded(struct profile *p, const char *path, const struct mapped_file *file);
struct error *import_perf(struct profile *p, const char *path, const struct mapped_file *file);
struct error *import_pprof(struct profile *p, const char *path, const struct mapped_file *file);

#endif
