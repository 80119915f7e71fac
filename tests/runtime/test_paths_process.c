/*
 * test_paths_process.c - path counters of processes that fork, exec, are killed, close their descriptors, find no room. Runs
 * itself again (execv) with the name of a case: the runtime reads its environment at start.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "again.h"
#include "path.h"

enum {
	HASH_BITS = 3,
	PATHS = 100,
	MANY = 400,
};

PATH_FUNCTION(array, WM1_PATHS_ARRAY, 0, 10, 101);
PATH_FUNCTION(hash, WM1_PATHS_HASH, HASH_BITS, 1 << HASH_BITS, 102);
PATH_FUNCTION(called, WM1_PATHS_HASH, 0, 0, 103);
PATH_BUNDLE(bundle, 105);
PATH_FUNCTION(outer, WM1_PATHS_ARRAY, 0, 4, 104); /* goes on over forks */

/* n paths of each kind. */
static void count(unsigned int n)
{
	unsigned int i, which;

	for (i = 0; i < n; i++) {
		uint64_t r = 1 + i * 2654435761u % PATHS;

		path_end_array(path_enter(&array, &array_slot), r % 10);
		path_end_hash(&hash, path_enter(&hash, &hash_slot), r, HASH_BITS);
		path_end_hash(&called, path_enter(&called, &called_slot), r, 0);
		for (which = 0; which < PATH_BUNDLED; which++)
			path_end_array(path_enter_bundled(bundle, &bundle_slot, which), r % bundle[which].entry_count);
	}
}

/* Each kind began and ended n in that process, and had begun and ended `inherited` in the thread that it comes from. */
static void check_counts(pid_t pid, uint64_t n, uint64_t inherited)
{
	uint64_t key;

	for (key = 101; key < 105 + PATH_BUNDLED; key++) {
		if (key == 104)
			continue;
		struct path_sum sum = path_sum_of_process(pid, key, 0);

		CHECK_U64(sum.begun, n);
		CHECK_U64(sum.ended, n);
		CHECK_U64(sum.inherited_begun, inherited);
		CHECK_U64(sum.inherited_ended, inherited);
		CHECK_U64(sum.uncommitted, 0);
	}
}

/* -- fork -- */

/* An activation that goes on in all descendants; it ends in each. */
static void case_fork(void)
{
	uint64_t *table = path_enter(&outer, &outer_slot);
	struct path_sum sum;
	pid_t pid, inner;
	int i;

	count(1000);
	pid = fork();
	if (pid == 0) {
		check_counts(getpid(), 0, 1000);
		count(300);
		inner = fork();
		if (inner == 0) {
			count(50);
			path_end_array(table, 2);
			check_counts(getpid(), 50, 1300);
			_exit(check_status());
		}
		CHECK_U64(finished(inner), 0);
		sum = path_sum_of_process(inner, 104, 2);
		CHECK_U64(sum.begun, 0);
		CHECK_U64(sum.path, 1);
		CHECK_U64(sum.inherited_begun - sum.inherited_ended, 1);
		count(20);
		path_end_array(table, 1);
		check_counts(getpid(), 320, 1000);
		_exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
	count(1000);
	path_end_array(table, 3);
	check_counts(getpid(), 2000, 0);
	/* many, one after the other and in a row */
	for (i = 0; i < 20; i++) {
		pid = fork();
		if (pid == 0) {
			count((unsigned int)i * 10);
			check_counts(getpid(), (uint64_t)i * 10, 2000 + 7 * (uint64_t)i);
			_exit(check_status());
		}
		CHECK_U64(finished(pid), 0);
		count(7);
	}
	for (i = 0; i < 10; i++) {
		pid = fork();
		if (pid) {
			CHECK_U64(finished(pid), 0);
			check_counts(pid, 11, 2140 + 11 * (uint64_t)i);
			break;
		}
		count(11);
	}
	if (i)
		_exit(check_status());
	check_counts(getpid(), 2140, 0);
	sum = path_sum_of_process(getpid(), 104, 3);
	CHECK_U64(sum.begun, 1);
	CHECK_U64(sum.ended, 1);
}

/* -- fork while other threads count and come and go -- */

static _Atomic int stop;

static void *count_on(void *arg)
{
	uint64_t *n = arg;

	while (!stop) {
		count(10);
		*n += 10;
	}
	return NULL;
}

static void *count_once(void *arg)
{
	count(5);
	*(uint64_t *)arg += 5;
	return NULL;
}

static void *fork_here(void *arg)
{
	pid_t pid;

	count(25);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;
		uint64_t more = 0;

		count(40);
		pthread_create(&thread, NULL, count_once, &more);
		pthread_join(thread, NULL);
		check_counts(getpid(), 40 + more, 25);
		_exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
	*(uint64_t *)arg += 25;
	return NULL;
}

static void case_fork_threads(void)
{
	uint64_t counted[3] = {0}, more = 0, mine = 0;
	pthread_t threads[3], short_lived;
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, count_on, &counted[i]);
	for (i = 0; i < 30; i++) {
		pid_t pid;

		pthread_create(&short_lived, NULL, count_once, &more);
		count(100);
		mine += 100;
		pid = fork();
		if (pid == 0) {
			count(500);
			check_counts(getpid(), 500, mine);
			_exit(check_status());
		}
		CHECK_U64(finished(pid), 0);
		pthread_join(short_lived, NULL);
	}
	stop = 1;
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		mine += counted[i];
	}
	check_counts(getpid(), mine + more, 0);
}

/* A thread that is not the first forks, and its child has threads. */
static void case_fork_in_thread(void)
{
	pthread_t thread;
	uint64_t n = 0;

	count(1000);
	pthread_create(&thread, NULL, fork_here, &n);
	pthread_join(thread, NULL);
	check_counts(getpid(), 1000 + n, 0);
}

/* -- threads that end in the middle of an activation; what their successors' children inherit is not that -- */

static void *exit_within(void *arg)
{
	path_enter(&outer, &outer_slot);
	count(3);
	pthread_exit(arg);
}

static void *fork_after(void *arg)
{
	uint64_t *table = path_enter(&outer, &outer_slot);
	struct path_sum sum;
	pid_t pid;

	count(2);
	pid = fork();
	if (pid == 0) {
		path_end_array(table, 1);
		check_counts(getpid(), 0, 2);
		sum = path_sum_of_process(getpid(), 104, 1);
		CHECK_U64(sum.path, 1);
		CHECK_U64(sum.inherited_begun, 1);
		CHECK_U64(sum.inherited_ended, 0);
		_exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
	path_end_array(table, 1);
	return arg;
}

static void case_fork_after_exit(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, exit_within, NULL);
		pthread_join(thread, NULL);
		pthread_create(&thread, NULL, fork_after, NULL);
		pthread_join(thread, NULL);
	}
	check_counts(getpid(), 20 * 5, 0);
	CHECK(path_sum_of_process(getpid(), 104, 1).tables <= 8);
	CHECK_U64(path_sum_of_process(getpid(), 104, 1).begun, 40);
	CHECK_U64(path_sum_of_process(getpid(), 104, 1).ended, 20);
}

/* -- a handler that forks, at any instruction of the thread that counts -- */

static _Atomic unsigned int forks;
static _Atomic int is_over;
static uint64_t handled;

static void on_signal(int sig)
{
	pid_t pid;

	(void)sig;
	if (forks == 0)
		return;
	forks--;
	pid = fork();
	if (pid == 0) {
		forks = 0;
		is_over = 1;
		return;
	}
	count(2);
	handled += 2;
	if (finished(pid) != 0)
		check_failures++;
}

/* What was begun and ended in parent and child together: the child ends what it was at. */
static void case_fork_in_handler(void)
{
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pid_t parent = getpid();
	uint64_t n = 0, key;

	count(10);
	forks = 30;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (forks && !is_over) {
		count(10);
		n += 10;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	if (getpid() == parent) {
		check_counts(getpid(), 10 + n + handled, 0);
		return;
	}
	count(33);
	for (key = 101; key <= 103; key++) {
		struct path_sum sum = path_sum_of_process(getpid(), key, 0);

		CHECK_U64(sum.inherited_begun + sum.begun, sum.inherited_ended + sum.ended);
		CHECK_U64(sum.inherited_begun + sum.begun, 10 + n + handled + 33);
	}
	_exit(check_status());
}

/* -- children without a handler -- */

static void case_clone(void)
{
	struct path_sum sum;
	pid_t pid;

	count(1000);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		/* noticed by the first entry of a function */
		path_end_array(path_enter(&outer, &outer_slot), 1);
		count(70);
		check_counts(getpid(), 70, 0);
		_exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
	count(10);
	check_counts(getpid(), 1010, 0);
	sum = path_sum_of_process(pid, 104, 1);
	CHECK_U64(sum.begun, 1);
	CHECK_U64(sum.path, 1);
}

static void case_vfork(void)
{
	pid_t pid;

	count(100);
	pid = vfork();
	if (pid == 0) {
		count(10);
		/* its first entry of a function: the parent goes on in that table */
		path_end_array(path_enter(&outer, &outer_slot), 1);
		_exit(0);
	}
	CHECK_U64(finished(pid), 0);
	count(5);
	path_end_array(path_enter(&outer, &outer_slot), 1);
	check_counts(getpid(), 115, 0);
	CHECK_U64(path_sum_of_process(getpid(), 104, 1).path, 2);
	CHECK_U64(path_sum_of_process(getpid(), 104, 1).tables, 1);
}

static void case_exec_again(void)
{
	count(20);
}

static void case_exec(void)
{
	char *argv[] = {self, (char *)(uintptr_t)"exec-again", NULL};

	count(30);
	execv(self, argv);
}

static void check_exec(pid_t pid)
{
	struct path_file file;
	char path[512];

	check_counts(pid, 30, 0);
	if (CHECK(profile_path(pid, ".1", path)) && path_file_open(path, &file)) {
		CHECK_U64(path_sum_of(&file, 103, 0).begun, 20);
		path_file_close(&file);
	}
}

static void case_kill(void)
{
	int fds[2], status;
	struct path_sum sum;
	uint64_t key;
	char byte;
	pid_t pid;

	if (!CHECK(pipe(fds) == 0))
		return;
	pid = fork();
	if (pid == 0) {
		count(20000);
		CHECK(write(fds[1], "x", 1) == 1);
		for (;;)
			count(1);
	}
	CHECK_U64(read(fds[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status));
	for (key = 101; key <= 103; key++) {
		sum = path_sum_of_process(pid, key, 0);
		CHECK(sum.begun >= 20000);
		CHECK(sum.begun - sum.ended <= 1);
	}
}

/* -- room -- */

static struct wm1_path_function many[MANY];
static _Thread_local uint64_t *many_slots[MANY];

static void count_many(void)
{
	uint32_t i, r;

	errno = 77;
	for (i = 0; i < MANY; i++) {
		many[i] = array;
		many[i].name_key = 1000 + i;
		many[i].entry_count = 1000;
		many[i].path_count = 1000;
		for (r = 0; r < 1000; r++)
			path_end_array(path_enter(&many[i], &many_slots[i]), r);
	}
	for (i = 0; i < 30000; i++)
		path_end_hash(&called, path_enter(&called, &called_slot), 1 + i, 0);
	CHECK_U64(errno, 77);
}

static void case_room(void)
{
	pid_t pid;

	count_many();
	/* the child has no more room than its parent */
	pid = fork();
	if (pid == 0) {
		count_many();
		_exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
}

static void check_room_of(const char *path, uint64_t error, uint64_t max_bytes)
{
	struct path_file file;
	uint64_t tables = 0, i;

	if (!path_file_open(path, &file))
		return;
	for (i = 0; i < MANY; i++) {
		struct path_sum sum = path_sum_of(&file, 1000 + i, 5);

		tables += sum.tables;
		CHECK_U64(sum.path, sum.tables);
	}
	CHECK(tables > 0 && tables < MANY);
	CHECK_U64(file.header->drop_errno, error);
	CHECK(file.header->dropped_path_tables >= MANY - tables);
	CHECK(file.header->dropped_path_tables <= MANY + 1 - tables);
	CHECK(file.header->dropped_paths > 0 || file.header->dropped_path_tables == MANY + 1 - tables);
	if (file.header->dropped_paths)
		CHECK_U64(path_sum_of(&file, 103, 0).ended + file.header->dropped_paths, 30000);
	CHECK(file.len_bytes <= max_bytes);
	path_file_close(&file);
}

static void check_room(pid_t pid)
{
	char path[512];

	if (CHECK(profile_path(pid, "", path)))
		check_room_of(path, WMK_DROP_LIMIT, 1 << 20);
}

static void check_rlimit(pid_t pid)
{
	char path[512];

	if (CHECK(profile_path(pid, "", path)))
		check_room_of(path, WMK_DROP_FILE_SIZE, 1 << 20);
}

static void case_rlimit(void)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	setrlimit(RLIMIT_FSIZE, &limit);
	case_room();
}

/* The file is not to be had: the functions are entered as fast as ever. */
static void case_no_file(void)
{
	uint64_t *kept;

	count_many();
	kept = array_slot;
	count(1000);
	CHECK(array_slot != NULL && (!kept || kept == array_slot));
}

static void case_fds(void)
{
	int fd;

	count(100);
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	CHECK(chdir("/") == 0);
	count_many();
	CHECK_U64(path_sum_of_process(getpid(), 101, 0).ended, 100);
	CHECK_U64(path_sum_of_process(getpid(), 103, 0).ended, 30100);
	CHECK_U64(path_sum_of_process(getpid(), 1000 + MANY - 1, 0).ended, 1000);
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*check)(pid_t pid); /* in the parent, after */
	const char *variable, *value;
} cases[] = {
	{"fork", case_fork, NULL, NULL, NULL},
	{"fork-threads", case_fork_threads, NULL, NULL, NULL},
	{"fork-in-thread", case_fork_in_thread, NULL, NULL, NULL},
	{"fork-after-exit", case_fork_after_exit, NULL, NULL, NULL},
	{"fork-in-handler", case_fork_in_handler, NULL, NULL, NULL},
	{"clone", case_clone, NULL, NULL, NULL},
	{"vfork", case_vfork, NULL, NULL, NULL},
	{"exec", case_exec, check_exec, NULL, NULL},
	{"kill", case_kill, NULL, NULL, NULL},
	{"room", case_room, check_room, "WAYMARK_LIMIT", "1M"},
	{"rlimit", case_rlimit, check_rlimit, NULL, NULL},
	{"no-file", case_no_file, NULL, "WAYMARK_OUT", "/proc/nowhere"},
	{"fds", case_fds, NULL, NULL, NULL},
	{"exec-again", case_exec_again, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
	size_t i;

	find_self(argv);
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return check_status();
		}
	}
	for (i = 0; i < sizeof cases / sizeof cases[0] - 1; i++) {
		int status = -1;
		pid_t pid = run(cases[i].name, cases[i].variable, cases[i].value, &status);

		if (!CHECK_U64(status, 0))
			fprintf(stderr, "case %s\n", cases[i].name);
		if (cases[i].check)
			cases[i].check(pid);
	}
	return check_status();
}
