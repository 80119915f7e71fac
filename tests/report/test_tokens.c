/*
 * test_tokens.c - what a token costs whose recording is not there, or does not have its prefix: one look at what may have
 * changed, no more; and that what has changed is found. Times of change are set, not waited for.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "model/contexts/token_contexts.h"
#include "support/builder.h"

enum {
	OTHERS = 50, /* recordings of other runs */
	TOKENS = 2000,
	CHUNK_NODES = (WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_node),
};

static unsigned int opened;

/* In front of the C library's. */
int open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list args;
	unsigned int mode;

	va_start(args, flags);
	mode = va_arg(args, unsigned int);
	va_end(args);
	if (!next)
		next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	opened++;
	return next(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

static void write_recording(const char *path, uint64_t run, uint32_t nodes)
{
	struct wmk_builder b;
	FILE *f;

	build_wmk_init(&b, run, "/prog");
	for (uint32_t i = 0; i < nodes; i++) {
		if (i % CHUNK_NODES == 0)
			build_chunk(&b, WMK_NODES, WM_PREFIX_FIRST + i, 0);
		build_node(&b, WM_PREFIX_PROCESS, i, 17, 1);
	}
	build_wmk_finish(&b);
	f = fopen(path, "w");
	CHECK(f && fwrite(b.out.bytes, 1, b.out.len_bytes, f) == b.out.len_bytes);
	if (f)
		fclose(f);
	buffer_deinit(&b.out);
}

/* age_s: how long ago the directory changed. */
static void set_age(const char *dir, time_t age_s)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age_s;
	times[1] = times[0];
	CHECK_U64((uint64_t)utimensat(AT_FDCWD, dir, times, 0), 0);
}

static struct error *decode(struct token_decoder *d, uint64_t run, uint32_t prefix)
{
	struct token t = {.kind = TOKEN_CONTEXT, .run = run, .prefix = prefix};
	struct frame_vec frames = {0};
	struct error *err = token_decode(d, &t, &frames);

	frame_vec_deinit(&frames);
	return err;
}

#define MISSING(run) CHECK_ERROR(decode(&d, run, 16), ERROR_NOT_FOUND, "no .wmk of run")
#define NO_PREFIX(run, prefix) CHECK_ERROR(decode(&d, run, prefix), ERROR_NOT_FOUND, "was not recorded")
/* The node is there; what it refers to is nowhere. */
#define FOUND(run, prefix) CHECK_ERROR(decode(&d, run, prefix), ERROR_FORMAT, "no image has site")

static void test_looks(const char *dir)
{
	struct token_decoder d;
	char path[512];

	for (unsigned int i = 0; i < OTHERS; i++) {
		snprintf(path, sizeof path, "%s/other-%u.wmk", dir, i);
		write_recording(path, 1000 + i, 1);
	}
	set_age(dir, 100);
	token_decoder_init(&d);
	CHECK_OK(token_decoder_add_place(&d, dir));
	CHECK_OK(token_decoder_add_place(&d, dir)); /* once is enough */
	MISSING(1);
	opened = 0;
	for (unsigned int i = 0; i < TOKENS; i++)
		MISSING(1 + i % 900);
	CHECK_U64(opened, TOKENS); /* the directory; none of its files */
	FOUND(1007, 16);
	opened = 0;
	for (unsigned int i = 0; i < TOKENS; i++)
		NO_PREFIX(1007, 17 + i);
	CHECK_U64(opened, TOKENS); /* the recording, each time */

	/* It grows, in place. */
	snprintf(path, sizeof path, "%s/other-7.wmk", dir);
	write_recording(path, 1007, 5000);
	FOUND(1007, 5015);
	NO_PREFIX(1007, 5016);

	/* One appears, and the time of change stays: within a tick of the clock, say. */
	snprintf(path, sizeof path, "%s/late.wmk", dir);
	set_age(dir, -100); /* a clock that is ahead: no listing is the last one */
	MISSING(5);
	{
		struct stat st;
		struct timespec times[2];

		CHECK_U64((uint64_t)stat(dir, &st), 0);
		write_recording(path, 5, 1);
		times[0] = times[1] = st.st_mtim;
		CHECK_U64((uint64_t)utimensat(AT_FDCWD, dir, times, 0), 0);
	}
	FOUND(5, 16);

	/* One that is just being made when the directory is listed. */
	snprintf(path, sizeof path, "%s/made.wmk", dir);
	fclose(fopen(path, "w"));
	set_age(dir, 50);
	MISSING(6);
	write_recording(path, 6, 1);
	set_age(dir, 50);
	FOUND(6, 16);

	/* Another process's under the same name: what was read stays, what was not is not taken from the wrong one. */
	snprintf(path, sizeof path, "%s/other-7.wmk", dir);
	unlink(path);
	write_recording(path, 7, 1);
	FOUND(1007, 5015);
	NO_PREFIX(1007, 5016);
	FOUND(7, 16);
	snprintf(path, sizeof path, "%s/other-8.wmk", dir);
	unlink(path);
	write_recording(path, 8, 1);
	CHECK_ERROR(decode(&d, 1008, 16), ERROR_NOT_FOUND, "is of another run now");
	token_decoder_deinit(&d);
}

/* A place that is a file, one that is not there, and one that a directory takes. */
static void test_places(const char *dir)
{
	struct token_decoder d;
	char file[512], later[512], inside[600];

	snprintf(file, sizeof file, "%s/other-3.wmk", dir);
	snprintf(later, sizeof later, "%s/later", dir);
	snprintf(inside, sizeof inside, "%s/x.wmk", later);
	token_decoder_init(&d);
	CHECK_OK(token_decoder_add_place(&d, file));
	CHECK_OK(token_decoder_add_place(&d, later));
	FOUND(1003, 16);
	MISSING(77);
	CHECK_U64((uint64_t)mkdir(later, 0777), 0);
	MISSING(77);
	write_recording(inside, 77, 1);
	FOUND(77, 16);
	token_decoder_deinit(&d);
	unlink(inside);
	rmdir(later);
}

int main(void)
{
	char dir[] = "/tmp/waymark-tokens.XXXXXX";
	char command[64];

	if (!CHECK(mkdtemp(dir) != NULL))
		return check_status();
	test_looks(dir);
	test_places(dir);
	snprintf(command, sizeof command, "rm -r %s", dir);
	CHECK_U64((uint64_t)system(command), 0);
	return check_status();
}
