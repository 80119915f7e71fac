/*
 * test_heap.c - runs a program under the heap client and an independent interposer, and compares every total.
 *
 *     test_heap HEAP.so COUNT.so PROGRAM [ARGUMENT...]
 */
#include <sys/wait.h>

#include "count_heap.h"
#include "profile.h"

static pid_t run(char **argv, const char *count_path)
{
	char preload[2048];
	int status = 0;
	pid_t pid;

	snprintf(preload, sizeof preload, "%s:%s", argv[1], argv[2]);
	pid = fork();
	if (pid == 0) {
		setenv("LD_PRELOAD", preload, 1);
		setenv("COUNT_HEAP", count_path, 1);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	CHECK_U64(status, 0);
	return pid;
}

static void check_totals(const struct profile *p, const struct heap_totals *want)
{
	struct heap_totals got = {0};
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	uint64_t at_peak = 0;

	while (wmk_next_heap(&p->file, &walk, &record)) {
		got.count += record.count;
		got.bytes += record.bytes;
		got.freed_count += wmk_heap_freed(&record);
		got.freed_bytes += record.freed_bytes;
		CHECK(record.freed_bytes <= record.bytes && wmk_heap_freed(&record) <= record.count);
		CHECK(wmk_heap_at_peak(&p->file, &record) <= record.bytes);
		at_peak += wmk_heap_at_peak(&p->file, &record);
	}
	CHECK(want->count > 1000);
	CHECK_U64(got.count, want->count);
	CHECK_U64(got.bytes, want->bytes);
	CHECK_U64(got.freed_count, want->freed_count);
	CHECK_U64(got.freed_bytes, want->freed_bytes);
	CHECK_U64(p->file.header.heap_live_bytes, want->live);
	CHECK_U64(p->file.header.heap_unknown_frees, want->unknown);
	CHECK(at_peak <= want->bytes);
	CHECK(p->file.header.flags & WMK_FLAG_HEAP);
	CHECK(p->file.header.flags & WMK_FLAG_CLOSED);
	/* without room for contexts the calls still count, all in one record */
	if (getenv("WAYMARK_LIMIT"))
		CHECK(p->file.header.dropped_heap_calls > 1000);
	else
		CHECK_U64(p->file.header.dropped_heap_calls, 0);
}

int main(int argc, char **argv)
{
	char count_path[512];
	struct heap_totals want = {0};
	struct profile p;
	FILE *f;
	pid_t pid;

	if (argc < 4)
		return 2;
	snprintf(count_path, sizeof count_path, "%s/count", profile_dir());
	pid = run(argv, count_path);
	f = fopen(count_path, "rb");
	CHECK(f && fread(&want, sizeof want, 1, f) == 1);
	if (f)
		fclose(f);
	if (profile_of(pid, "", &p)) {
		check_totals(&p, &want);
		/* with one thread the two see the same order */
		if (argc > 4 && strcmp(argv[4], "1") == 0)
			CHECK_U64(p.file.header.heap_peak_bytes, want.peak);
		profile_close(&p);
	}
	return check_status();
}
