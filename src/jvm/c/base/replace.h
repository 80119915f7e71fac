/* replace.h - files that are written at the end of the process, and that other processes may read. */
#ifndef WM_JVM_REPLACE_H
#define WM_JVM_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

/* print writes all of it; false: it could not. The file is replaced as a whole; false: the old one, if any, is there. */
bool jvm_replace_file(const char *path, bool (*print)(FILE *file, const void *data), const void *data);

#endif
