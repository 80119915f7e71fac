/*
 * heap_peak.c - a program under the heap client keeps a shadow of its own: what each context holds, a copy of that whenever the whole is
 * larger than ever, the whole after each call with the time, which blocks the next call of their thread freed, and the sizes and life times of
 * blocks. The recording is compared with it: contexts at the peak, the time line, temporary blocks, sizes and life times.
 *
 *     heap_peak HEAP.so THREADS SEED [at-once]
 *
 * Threads take turns, so that both see one order, and every number is equal. at-once: they do not, and the sum of the contexts at the
 * peak may differ from the peak by one call of each thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "profile.h"
#include "push.h"

enum {
	SITES = 40,
	FIRST_SITE = 10,
	BLOCKS = 300, /* of a thread at a time */
	CALLS = 4000, /* of all threads */
	PHASES = 6,   /* of a thread: in the third and the last one its blocks become fewer */
	SIZE_MAX_BYTES = 100000,
	THREADS_MAX = 8,
	STEP_SHIFT = 6,
	SIZES = 20, /* classes of sizes: the last one has SIZE_MAX_BYTES */
};

/* In a file, since another program reads it. */
struct shadow {
	uint64_t held[SITES], at_peak[SITES], temporary[SITES];
	uint64_t sizes[SITES][SIZES], size_bytes[SITES][SIZES], lives[SITES][WMK_LIVES];
	uint64_t allocations;
	uint64_t all, peak;
	uint32_t call_count;
	struct {
		uint64_t time_ns, all;
	} calls[CALLS];
};

static struct shadow *shadow;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static bool is_at_once;

struct worker {
	pthread_t thread;
	uint64_t random;
	uint32_t calls;
	uint32_t count;
	struct {
		void *at;
		size_t size;
		uint32_t site;
		uint64_t birth; /* allocations so far, its own one included */
	} blocks[BLOCKS];
	void *last; /* that the last call allocated */
};

static struct shadow *map_shadow(const char *how_dir)
{
	char path[512];
	int fd;
	void *ret;

	snprintf(path, sizeof path, "%s/shadow", how_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct shadow)) != 0)
		exit(3);
	ret = mmap(NULL, sizeof(struct shadow), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return ret;
}

static uint32_t pick(struct worker *w, uint32_t below)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(w->random >> 33) % below;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- the shadow ---- */

static uint32_t size_class(uint64_t bytes)
{
	uint32_t i = 0;

	for (; bytes > 1; bytes /= 2)
		i++;
	return i;
}

static uint32_t life_class(uint64_t age)
{
	uint32_t i = 0;

	for (; age; age /= 4)
		i++;
	return i < WMK_LIVES ? i : WMK_LIVES - 1;
}

/* Returns the block's birth. */
static uint64_t hold(uint32_t site, uint64_t bytes)
{
	shadow->sizes[site][size_class(bytes)]++;
	shadow->size_bytes[site][size_class(bytes)] += bytes;
	shadow->held[site] += bytes;
	shadow->all += bytes;
	if (shadow->all > shadow->peak) {
		shadow->peak = shadow->all;
		memcpy(shadow->at_peak, shadow->held, sizeof shadow->held);
	}
	return ++shadow->allocations;
}

static void let_go(struct worker *w, uint32_t i)
{
	uint32_t site = w->blocks[i].site;
	uint64_t bytes = w->blocks[i].size;

	shadow->lives[site][life_class(shadow->allocations - w->blocks[i].birth)]++;
	shadow->held[site] -= bytes;
	shadow->all -= bytes;
	shadow->temporary[site] += w->last == w->blocks[i].at;
	w->last = NULL;
}

static void note_call(void)
{
	if (shadow->call_count < CALLS) {
		shadow->calls[shadow->call_count].all = shadow->all;
		shadow->calls[shadow->call_count++].time_ns = now_ns();
	}
}

/* ---- calls ---- */

static void allocate(struct worker *w)
{
	uint32_t site = pick(w, SITES), i = w->count++;
	size_t size = pick(w, 50) ? pick(w, 3000) : pick(w, SIZE_MAX_BYTES);

	/* The worker keeps it. */
	PUSHED(FIRST_SITE + site, w->blocks[i].at = malloc(size)); /* NOLINT(clang-analyzer-unix.Malloc) */
	w->blocks[i].size = size;
	w->blocks[i].site = site;
	if (is_at_once)
		return;
	w->blocks[i].birth = hold(site, size);
	w->last = w->blocks[i].at;
}

static void let_go_one(struct worker *w)
{
	/* Often the last one. */
	uint32_t i = pick(w, 2) ? w->count - 1 : pick(w, w->count);

	if (!is_at_once)
		let_go(w, i);
	free(w->blocks[i].at);
	w->blocks[i] = w->blocks[--w->count];
}

static void change(struct worker *w)
{
	uint32_t site = pick(w, SITES), i = pick(w, w->count);
	void *was = w->blocks[i].at;
	size_t size = 1 + pick(w, 3000);

	if (!is_at_once)
		let_go(w, i);
	PUSHED(FIRST_SITE + site, w->blocks[i].at = realloc(was, size));
	if (!is_at_once) {
		w->blocks[i].birth = hold(site, size);
		w->last = w->blocks[i].at;
	}
	w->blocks[i].size = size;
	w->blocks[i].site = site;
}

static void call(struct worker *w, bool is_growing)
{
	uint32_t what = pick(w, 10);

	if (!w->count || (w->count < BLOCKS && what < (is_growing ? 6 : 3)))
		allocate(w);
	else if (what < 8)
		let_go_one(w);
	else
		change(w);
}

static void *work(void *data)
{
	struct worker *w = data;

	for (uint32_t i = 0; i < w->calls; i++) {
		if (!is_at_once)
			pthread_mutex_lock(&turn);
		call(w, i / (w->calls / PHASES + 1) % 3 != 2);
		if (!is_at_once) {
			note_call();
			pthread_mutex_unlock(&turn);
		}
	}
	return NULL;
}

static int run(uint32_t threads, uint64_t seed)
{
	static struct worker workers[THREADS_MAX];

	shadow = map_shadow(profile_dir());
	/* All threads are there before the first call, so that what the C library allocates for them does not change meanwhile. */
	pthread_mutex_lock(&turn);
	for (uint32_t i = 0; i < threads; i++) {
		workers[i].random = seed * 1000 + i;
		workers[i].calls = CALLS / threads;
		if (threads > 1 && pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	pthread_mutex_unlock(&turn);
	if (threads == 1)
		work(&workers[0]);
	for (uint32_t i = 0; i < threads && threads > 1; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}

/* ---- the recording ---- */

static uint64_t step_of(uint64_t bytes)
{
	uint64_t step = bytes >> STEP_SHIFT;

	return step < WMK_HEAP_STEP_MIN ? WMK_HEAP_STEP_MIN : step;
}

/* The site of a record, SITES: it is not of a call that the shadow has. */
static uint32_t site_of(const struct profile *p, const struct wmk_heap *record)
{
	struct wmk_node node = {0};
	uint32_t site;

	if (record->prefix < WM_PREFIX_FIRST || !CHECK(wmk_find_node(&p->file, record->prefix, &node)))
		return SITES;
	site = node.site - push_image.site_base - FIRST_SITE;
	return site < SITES ? site : SITES;
}

/* Returns what all records held at the peak. */
static uint64_t check_records(const struct profile *p)
{
	static uint64_t sizes[SITES + 1][SIZES], size_bytes[SITES + 1][SIZES], lives[SITES + 1][WMK_LIVES];
	uint64_t at_peak[SITES + 1] = {0}, temporary[SITES + 1] = {0}, sum = 0;
	struct wmk_walk walk = {0};
	struct wmk_heap record;
	uint32_t different = 0;

	while (wmk_next_heap(&p->file, &walk, &record)) {
		uint32_t site = site_of(p, &record);

		CHECK(record.temporary_count <= wmk_heap_freed(&record));
		sum += wmk_heap_at_peak(&p->file, &record);
		at_peak[site] += wmk_heap_at_peak(&p->file, &record);
		temporary[site] += record.temporary_count;
		if (record.size_class < SIZES) {
			sizes[site][record.size_class] += record.count;
			size_bytes[site][record.size_class] += record.bytes;
		}
		for (uint32_t i = 0; i < WMK_LIVES; i++)
			lives[site][i] += record.lives[i];
		different += wmk_heap_at_peak(&p->file, &record) != wmk_heap_live(&record);
	}
	CHECK(different > SITES / 2);
	for (uint32_t site = 0; site < SITES && shadow->call_count; site++) {
		CHECK_U64(at_peak[site], shadow->at_peak[site]);
		CHECK_U64(temporary[site], shadow->temporary[site]);
		CHECK(memcmp(sizes[site], shadow->sizes[site], sizeof sizes[site]) == 0);
		CHECK(memcmp(size_bytes[site], shadow->size_bytes[site], sizeof size_bytes[site]) == 0);
		CHECK(memcmp(lives[site], shadow->lives[site], sizeof lives[site]) == 0);
	}
	return sum;
}

static void check_time_line(const struct profile *p, uint64_t others)
{
	struct wmk_heap_time record, last = {0};
	struct wmk_walk walk = {0};
	uint64_t highest = 0, peak = p->file.header.heap_peak_bytes, live = p->file.header.heap_live_bytes;
	uint32_t next = 0, records = 0;

	for (; wmk_next_heap_time(&p->file, &walk, &record); last = record, records++) {
		CHECK(record.time_ns >= last.time_ns);
		CHECK(record.low_bytes <= record.live_bytes && record.live_bytes <= record.high_bytes);
		highest = record.high_bytes > highest ? record.high_bytes : highest;
		for (; next < shadow->call_count && shadow->calls[next].time_ns <= record.time_ns; next++) {
			uint64_t all = shadow->calls[next].all + others;

			CHECK(all <= record.high_bytes + step_of(record.high_bytes));
			CHECK(all + step_of(record.low_bytes) >= record.low_bytes);
		}
	}
	CHECK(records > 10);
	CHECK(highest <= peak && peak <= highest + step_of(highest));
	if (!shadow->call_count)
		return;
	for (; next < shadow->call_count; next++)
		CHECK(shadow->calls[next].all + others <= last.live_bytes + step_of(last.live_bytes));
	CHECK(live <= last.live_bytes + step_of(last.live_bytes));
}

static int check(pid_t pid, uint32_t threads)
{
	struct profile p;
	uint64_t sum, peak;

	shadow = map_shadow(profile_dir());
	if (!profile_of(pid, "", &p))
		return 1;
	sum = check_records(&p);
	peak = p.file.header.heap_peak_bytes;
	if (shadow->call_count) {
		CHECK_U64(shadow->call_count, CALLS / threads * threads);
		CHECK_U64(sum, peak);
		CHECK(shadow->peak <= peak);
	} else {
		CHECK(sum + (uint64_t)threads * SIZE_MAX_BYTES >= peak);
		CHECK(peak + (uint64_t)threads * SIZE_MAX_BYTES >= sum);
	}
	check_time_line(&p, peak - shadow->peak);
	profile_close(&p);
	return check_status();
}

int main(int argc, char **argv)
{
	uint32_t threads;
	int status = 1;
	pid_t pid;

	if (argc < 4)
		return 2;
	threads = (uint32_t)atoi(argv[2]);
	is_at_once = argc > 4;
	if (getenv("LD_PRELOAD"))
		return run(threads, strtoull(argv[3], NULL, 10));
	pid = fork();
	if (pid == 0) {
		setenv("LD_PRELOAD", argv[1], 1);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	CHECK_U64(status, 0);
	return check(pid, threads);
}
