/*
 * fuzz_core.c - snapshot_open_core on any bytes: headers, notes, the images in its memory, or packed ones; then all that can be
 * asked of what was read.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "snapshot/snapshot.h"
#include "snapshot/image/code.h"

static void ask(struct snapshot *s)
{
	const struct debug_line *lines;
	struct snapshot_region region;
	struct instruction i;
	uint32_t count;
	uint64_t word;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		for (uint32_t f = 0; f < s->threads[t].frame_count; f++) {
			const struct snapshot_frame *frame = &s->threads[t].frames[f];

			error_destroy(snapshot_lines(s, frame, &lines, &count));
			snapshot_read(s, frame->cfa, &word, sizeof word);
			snapshot_read(s, frame->registers[7], &word, sizeof word);
			snapshot_region_at(s, frame->cfa, &region);
			if (snapshot_instruction_at(s, frame->pc, &i))
				snapshot_operand(s, frame, &i, frame->pc, &word);
			snapshot_loop_around(s, frame->pc, frame->pc - 64, frame->pc + 64, &word, &word, &count);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot_options options = {.frame_limit = 64};
	int fd = memfd_create("core", MFD_CLOEXEC);
	char path[64];
	struct snapshot s;
	struct error *err;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		err = snapshot_open_core(path, &options, &s);
		if (err) {
			error_destroy(err);
		} else {
			ask(&s);
			snapshot_close(&s);
		}
	}
	close(fd);
	return 0;
}
