/*
 * core_unpack.h - cores as systemd-coredump stores them: packed by zstd, lz4 or xz. They are unpacked into a file without a name, which
 * only this process has, and which goes with it.
 */
#ifndef WM_SNAPSHOT_CORE_UNPACK_H
#define WM_SNAPSHOT_CORE_UNPACK_H

#include <stdbool.h>

#include "object/file.h"

enum {
	CORE_HEAD_BYTES = 6, /* by which packed files are known */
};

/* head: the first bytes of a file. */
bool core_is_packed(const uint8_t head[CORE_HEAD_BYTES]);

/*
 * Maps a core, unpacked where it is packed. *ret_is_cut: it was packed, and ends early or is damaged further on. At most what the core's
 * own headers ask for is unpacked, no more than 64 GiB, and no more than leaves a sixteenth of the free space under TMPDIR (else /var/tmp).
 */
struct error *core_map(const char *path, struct mapped_file *ret, bool *ret_is_cut);

#endif
