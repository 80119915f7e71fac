/* show_snapshot.c - prints what snapshot/snapshot.h tells of a core or a process, for run.sh. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/snapshot.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void show_frame(struct snapshot *s, uint32_t number, const struct snapshot_frame *f)
{
	const struct debug_line *lines;
	uint32_t count;
	struct error *err = snapshot_lines(s, f, &lines, &count);

	if (err) {
		printf("lines: %s\n", err->message);
		error_destroy(err);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		printf("#%" PRIu32 " %s%s%s %s:%" PRIu32 " [%s]%s%s\n", number, i + 1 < count ? "inlined " : "",
		       f->is_activation ? "at " : "", lines[i].function ? lines[i].function : "?",
		       lines[i].file ? base_name(lines[i].file) : "?", lines[i].line,
		       f->module == UINT32_MAX ? "?" : base_name(s->modules[f->module].path),
		       f->has_cfa ? "" : " no-cfa", f->has_cfa && f->cfa <= f->registers[7] ? " bad-cfa" : "");
}

static void show(struct snapshot *s, uint32_t limit)
{
	printf("pid %d threads %u signal %d live %d", (int)s->pid, s->thread_count, s->signal, s->is_live);
	if (s->has_fault_address)
		printf(" fault %#" PRIx64, s->fault_address);
	printf("\ncommand %s\n", s->command ? s->command : "?");
	for (uint32_t i = 0; i < s->module_count; i++)
		printf("module %s file %s%s\n", base_name(s->modules[i].path),
		       s->modules[i].file ? base_name(s->modules[i].file) : "none",
		       s->modules[i].build_id.len_bytes ? " build-id" : "");
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct snapshot_thread *thread = &s->threads[t];

		printf("thread %s%s frames %" PRIu32 "%s%s\n", thread->is_first ? "first" : "other",
		       thread->name ? " named" : "", thread->frame_count, thread->cut ? " cut: " : "",
		       thread->cut ? thread->cut : "");
		for (uint32_t i = 0; i < thread->frame_count && i < limit; i++)
			show_frame(s, i, &thread->frames[i]);
	}
	for (uint32_t i = 0; i < s->note_count; i++)
		printf("note %s\n", s->notes[i]);
}

/* show_snapshot PROGRAM|- CORE|PID [FRAMES [DEBUG-DIR]] */
int main(int argc, char **argv)
{
	struct object_search search;
	struct snapshot_options options = {.search = &search};
	struct snapshot s;
	struct error *err;

	if (argc < 3)
		return 2;
	object_search_init(&search);
	options.program = strcmp(argv[1], "-") == 0 ? NULL : argv[1];
	if (argc > 4)
		error_destroy(object_search_add_debug_dir(&search, argv[4]));
	if (strspn(argv[2], "0123456789") == strlen(argv[2]))
		err = snapshot_open_process((pid_t)atoi(argv[2]), &options, &s);
	else
		err = snapshot_open_core(argv[2], &options, &s);
	if (err) {
		printf("error %s\n", err->message);
		error_destroy(err);
	} else {
		show(&s, argc > 3 ? (uint32_t)atoi(argv[3]) : 30);
		snapshot_close(&s);
	}
	object_search_deinit(&search);
	return err ? 1 : 0;
}
