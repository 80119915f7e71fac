/*
 * stopped.c - opens a core or a process: threads and mappings, then modules, then frames. Memory is what the core or the
 * process has, and for what a core leaves out, the files that were mapped read-only.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "object/stopped_source.h"

void stopped_take_registers(const uint64_t user[STOPPED_USER_WORDS], uint64_t ret[STOPPED_REGISTERS])
{
	/* Of user_regs_struct (sys/user.h), by DWARF number: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip */
	static const uint8_t places[STOPPED_REGISTERS] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};

	for (int i = 0; i < STOPPED_REGISTERS; i++)
		ret[i] = user[places[i]];
}

struct error *stopped_note(struct stopped *s, const char *format, ...)
{
	struct stopped_source *source = s->source;
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(&s->arena, format, args);
	va_end(args);
	return text ? stopped_note_vec_append(&source->notes, text) : &error_no_memory;
}

size_t stopped_memory(const struct stopped_source *source, uint64_t address, void *ret, size_t len_bytes)
{
	return source->memory_fd >= 0 ? stopped_live_memory(source, address, ret, len_bytes)
				      : stopped_core_memory(source, address, ret, len_bytes);
}

bool stopped_read(const struct stopped *s, uint64_t address, void *ret, size_t len_bytes)
{
	const struct stopped_source *source = s->source;
	uint8_t *to = ret;

	while (len_bytes) {
		size_t part = stopped_memory(source, address, to, len_bytes);

		if (!part)
			part = stopped_file_memory(s, address, to, len_bytes);
		if (!part)
			return false;
		address += part;
		to += part;
		len_bytes -= part;
	}
	return true;
}

static struct error *open_source(const char *name, const struct stopped_options *options, struct stopped *s)
{
	struct stopped_source *source = calloc(1, sizeof *source);

	*s = (struct stopped){.source = source};
	arena_init(&s->arena);
	if (!source)
		return &error_no_memory;
	source->memory_fd = -1;
	source->search = options->search;
	source->name = arena_strdup(&s->arena, name);
	return source->name ? NULL : &error_no_memory;
}

static struct error *finish(const struct stopped_options *options, struct stopped *s)
{
	struct stopped_source *source = s->source;
	struct error *err = stopped_find_modules(s, options);

	if (!err)
		err = stopped_walk(s, options->frame_limit);
	s->notes = source->notes.items;
	s->note_count = (uint32_t)source->notes.count;
	return err;
}

struct error *stopped_open_core(const char *core, const struct stopped_options *options, struct stopped *ret)
{
	struct stopped s;
	struct error *err = open_source(core, options, &s);

	if (!err)
		err = stopped_read_core(core, &s);
	if (!err)
		err = finish(options, &s);
	if (err)
		stopped_close(&s);
	else
		*ret = s;
	return err;
}

struct error *stopped_open_process(pid_t pid, const struct stopped_options *options, struct stopped *ret)
{
	struct stopped s;
	char name[32];
	struct error *err;

	snprintf(name, sizeof name, "process %d", (int)pid);
	err = open_source(name, options, &s);
	if (!err)
		err = stopped_seize(pid, &s);
	if (!err)
		err = finish(options, &s);
	if (err)
		stopped_close(&s);
	else
		*ret = s;
	return err;
}

void stopped_close(struct stopped *s)
{
	struct stopped_source *source = s->source;

	if (source) {
		stopped_free_lines(s);
		stopped_free_statics(s);
		stopped_free_modules(s);
		stopped_release(s);
		stopped_note_vec_deinit(&source->notes);
		stopped_raw_thread_vec_deinit(&source->threads);
		stopped_mapping_vec_deinit(&source->mappings);
		stopped_segment_vec_deinit(&source->segments);
		file_unmap(&source->core);
		free(source);
	}
	arena_deinit(&s->arena);
	*s = (struct stopped){0};
}
