/*
 * file_name.h - the name of a recording.
 */
#ifndef WM_RECORDER_FILE_NAME_H
#define WM_RECORDER_FILE_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * Gives the file temp the first name of the configured pattern that is free: the name itself, or that with .1, .2 and so on. `path` gets it.
 * 0, or -errno: -EEXIST only if others take each name that is tried.
 */
int wmrt_file_name_take(uint32_t pid, const char *temp, char *path, size_t size);

#endif
