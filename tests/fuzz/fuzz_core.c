/*
 * fuzz_core.c - stopped_open_core on any bytes: headers, notes, the images in its memory; then all that can be asked of what
 * was read.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "object/stopped.h"

static void ask(struct stopped *s)
{
	const struct stopped_line *lines;
	uint32_t count;
	uint64_t word;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		for (uint32_t f = 0; f < s->threads[t].frame_count; f++) {
			const struct stopped_frame *frame = &s->threads[t].frames[f];

			error_destroy(stopped_lines(s, frame, &lines, &count));
			stopped_read(s, frame->cfa, &word, sizeof word);
			stopped_read(s, frame->registers[7], &word, sizeof word);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stopped_options options = {.frame_limit = 64};
	int fd = memfd_create("core", MFD_CLOEXEC);
	char path[64];
	struct stopped s;
	struct error *err;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		err = stopped_open_core(path, &options, &s);
		if (err) {
			error_destroy(err);
		} else {
			ask(&s);
			stopped_close(&s);
		}
	}
	close(fd);
	return 0;
}
