/*
 * test_process.c - what happens to the file when the process forks, execs, is killed, closes its descriptors, runs
 * out of room. Runs itself again (execv) with the name of a case: the runtime reads its environment at start.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "again.h"
#include "profile.h"
#include "push.h"

static wm_context here(void)
{
	return wm1_capture(push_image.site_base + 1);
}

static wm_context stack_of(int n, uint32_t seed)
{
	wm_context c;
	struct push kept;

	if (n == 0)
		return here();
	kept = push_at(50 + (uint32_t)n % 7 + seed, wm1_thread_state.id, 0);
	c = stack_of(n - 1, seed);
	push_end(kept);
	return c;
}

static uint64_t events_of(const struct profile *p)
{
	return p->file.whole_count[WMK_EVENTS];
}

/* All whole events have prefixes that can be followed to a root. */
static void check_events(const struct profile *p)
{
	struct wmk_walk walk = {0};
	struct wmk_event event;

	while (wmk_next_event(&p->file, &walk, &event)) {
		struct wmk_node node = {.parent = event.prefix};

		while (node.parent >= WM_PREFIX_FIRST)
			if (!CHECK(wmk_find_node(&p->file, node.parent, &node)))
				return;
		if (!CHECK(wmk_find_string(&p->file, event.name) != NULL))
			return;
	}
}

/* -- fork -- */

static void child_looks(wm_context before, const char *how)
{
	char text[WM_TOKEN_MAX], parent_text[WM_TOKEN_MAX];
	struct profile p;

	(void)parent_text;
	CHECK(push_same(stack_of(20, 0), before)); /* the numbers it inherited hold */
	CHECK(!profile_path(getpid(), "", text));  /* and looking makes no file */
	wm1_event(push_image.site_base + 1, how, 1);
	stack_of(3000, 3);
	PUSHED(70, wm1_event(push_image.site_base + 1, "inherited name", 2));
	wm_token(before, text, sizeof text);
	if (profile_of(getpid(), "", &p)) {
		char stack[4096];
		struct wmk_node node;

		CHECK(p.file.header.parent_run != 0);
		CHECK_U64(p.file.header.pid, getpid());
		CHECK_U64(events_of(&p), 2);
		CHECK(wmk_find_node(&p.file, before.prefix, &node));
		profile_stack(&p, push_image.site_base, before.prefix, stack, sizeof stack);
		CHECK(strstr(stack, " 51/0*1") != NULL);
		CHECK(strncmp(text + 4, "0000000000000000", 16) != 0);
		CHECK(p.file.image_count == 1);
		check_events(&p);
		profile_close(&p);
	}
}

static void case_fork(void)
{
	wm_context before = stack_of(20, 0);
	struct profile p;
	pid_t pid;
	int i;

	wm1_event(push_image.site_base + 1, "inherited name", 1);
	pid = fork();
	if (pid == 0) {
		child_looks(before, "fork");
		exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
	/* a raw clone: no atfork handler runs */
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		child_looks(before, "clone");
		pid = fork();
		if (pid == 0) {
			child_looks(before, "grandchild");
			_exit(check_status());
		}
		_exit(finished(pid) + check_status());
	}
	CHECK_U64(finished(pid), 0);
	/* a child that records nothing makes no file */
	pid = fork();
	if (pid == 0) {
		stack_of(20, 0);
		exit(0);
	}
	CHECK_U64(finished(pid), 0);
	{
		char path[512];

		CHECK(!profile_path(pid, "", path));
	}
	/* the parent goes on in its own */
	for (i = 0; i < 5000; i++)
		wm1_event(push_image.site_base + 1, "after", (uint64_t)i);
	stack_of(4000, 5);
	if (profile_of(getpid(), "", &p)) {
		CHECK_U64(events_of(&p), 5001);
		CHECK_U64(p.file.header.flags & WMK_FLAG_CLOSED, 0);
		check_events(&p);
		profile_close(&p);
	}
}

/* -- fork while other threads record -- */

static _Atomic int stop;

static void *record_on(void *arg)
{
	uint32_t i;

	for (i = 0; !stop; i++) {
		wm1_thread_state.id = i % 5000;
		PUSHED(30 + (uint32_t)(uintptr_t)arg, wm1_event(push_image.site_base + 1, "thread", i));
	}
	return NULL;
}

static void case_fork_threads(void)
{
	pthread_t threads[3];
	uintptr_t i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, record_on, (void *)i);
	for (i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			struct profile p;
			uint32_t n;

			for (n = 0; n < 3000; n++) {
				wm1_thread_state.id = n;
				PUSHED(40, wm1_event(push_image.site_base + 1, "child", n));
			}
			if (profile_of(getpid(), "", &p)) {
				CHECK_U64(events_of(&p), 3000);
				check_events(&p);
				profile_close(&p);
			}
			_exit(check_status());
		}
		CHECK_U64(finished(pid), 0);
	}
	stop = 1;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* -- vfork and exec -- */

static void case_vfork(void)
{
	wm_context before = stack_of(20, 0);
	struct profile p;
	struct wm1_thread kept = wm1_thread_state;
	pid_t pid = vfork();

	if (pid == 0) {
		push_at(7, 0, 0);
		wm1_event(push_image.site_base + 1, "in vfork's child", 0);
		_exit(0);
	}
	wm1_thread_state = kept; /* as a returns-twice call site does */
	CHECK_U64(finished(pid), 0);
	CHECK(push_same(stack_of(20, 0), before));
	wm1_event(push_image.site_base + 1, "in the parent", 0);
	if (profile_of(getpid(), "", &p)) {
		CHECK_U64(events_of(&p), 2);
		check_events(&p);
		profile_close(&p);
	}
}

static void case_exec_again(void)
{
	wm1_event(push_image.site_base + 1, "second life", 0);
}

static void case_exec(void)
{
	char *argv[] = {self, (char *)(uintptr_t)"exec-again", NULL};

	wm1_event(push_image.site_base + 1, "first life", 0);
	execv(self, argv);
}

static void check_exec(pid_t pid)
{
	struct profile a, b;

	if (profile_of(pid, "", &a) && profile_of(pid, ".1", &b)) {
		CHECK_U64(events_of(&a), 1);
		CHECK_U64(events_of(&b), 1);
		CHECK(a.file.header.run != b.file.header.run);
		CHECK_U64(a.file.header.flags & WMK_FLAG_CLOSED, 0);
		CHECK_U64(b.file.header.flags & WMK_FLAG_CLOSED, WMK_FLAG_CLOSED);
		profile_close(&a);
		profile_close(&b);
	}
}

/* -- killed -- */

static void *storm(void *arg)
{
	int *pipe_fd = arg;
	uint32_t i;

	for (i = 0;; i++) {
		wm1_thread_state.id = i;
		PUSHED(30, wm1_event(push_image.site_base + 1, "storm", i));
		if (i == 20000 && write(*pipe_fd, "x", 1) != 1)
			return NULL;
	}
}

static void case_kill(void)
{
	int fds[2], status;
	struct profile p;
	char byte;
	pid_t pid;

	if (pipe(fds) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		pthread_t other;

		pthread_create(&other, NULL, storm, &fds[1]);
		storm(&fds[1]);
		_exit(0);
	}
	CHECK_U64(read(fds[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status));
	if (profile_of(pid, "", &p)) {
		CHECK(events_of(&p) >= 20000);
		CHECK(p.file.uncommitted <= 4); /* at most what two threads were at */
		CHECK(p.file.truncated == NULL);
		check_events(&p);
		profile_close(&p);
	}
}

/* -- room -- */

static void fill(uint32_t n)
{
	uint32_t i;

	errno = 77;
	for (i = 0; i < n; i++) {
		wm1_thread_state.id = i;
		PUSHED(30, wm1_event(push_image.site_base + 1, "fill", i));
	}
	CHECK_U64(errno, 77);
}

/* Events whose records made room for later ones. */
static uint64_t summed_in(const struct profile *p)
{
	struct wmk_walk walk = {0};
	struct wmk_sum sum;
	uint64_t count = 0;

	while (wmk_next_sum(&p->file, &walk, &sum))
		count += sum.count;
	return count;
}

static void case_fill(void)
{
	fill(60000);
}

/* No event is: the oldest ones are added up. Contexts are what finds no room. */
static void check_dropped(const char *path, uint64_t error, uint64_t max_bytes)
{
	struct profile p;

	if (!profile_open(path, &p))
		return;
	CHECK(events_of(&p) > 0);
	CHECK_U64(p.file.header.dropped_events, 0);
	CHECK_U64(events_of(&p) + summed_in(&p), 60000);
	CHECK(p.file.header.dropped_prefixes > 0);
	CHECK_U64(p.file.header.drop_errno, error);
	CHECK(p.len_bytes <= max_bytes);
	CHECK(p.file.truncated == NULL);
	profile_close(&p);
}

static void test_limit(void)
{
	char path[512];
	int status = -1;
	pid_t pid = run("fill", "WAYMARK_LIMIT", "1M", &status);

	CHECK_U64(status, 0);
	if (CHECK(profile_path(pid, "", path)))
		check_dropped(path, EFBIG, 1 << 20);
}

static void case_rlimit(void)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ would end this */
	fill(60000);
}

static void test_rlimit(void)
{
	char path[512];
	int status = -1;
	pid_t pid = run("rlimit", NULL, NULL, &status);

	CHECK_U64(status, 0);
	if (CHECK(profile_path(pid, "", path)))
		check_dropped(path, WMK_DROP_FILE_SIZE, 1 << 20);
}

/* A small file system of its own, where this user may mount one. */
static void test_full_disk(void)
{
	char dir[512], path[1024];
	int status = -1;
	pid_t pid;

	snprintf(dir, sizeof dir, "%s/small", profile_dir());
	if (mkdir(dir, 0700) != 0 || mount("none", dir, "tmpfs", 0, "size=1m") != 0) {
		fprintf(stderr, "cannot mount a small tmpfs: full disk not tested\n");
		return;
	}
	pid = run("fill", "WAYMARK_OUT", dir, &status);
	CHECK_U64(status, 0);
	snprintf(path, sizeof path, "%s/waymark-test_process-%d.wmk", dir, (int)pid);
	check_dropped(path, ENOSPC, 1 << 20);
	umount(dir);
}

/* -- kernels and file systems that lack something, by a system call filter that an exec inherits -- */

static int forbid(long number, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Runs that case with the system call failing; 0 when filters cannot be had. */
static pid_t run_without(long number, int error, const char *name)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		char *argv[] = {self, (char *)(uintptr_t)name, NULL};

		if (!forbid(number, error))
			_exit(99);
		execv(self, argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99) {
		fprintf(stderr, "no system call filters: not tested without call %ld\n", number);
		return 0;
	}
	if (!CHECK_U64(status, 0))
		fprintf(stderr, "case %s without call %ld\n", name, number);
	return pid;
}

static void test_lacking(void)
{
	struct profile p;
	char path[512];
	pid_t pid = run_without(SYS_fallocate, EOPNOTSUPP, "small-fill");

	if (pid && profile_of(pid, "", &p)) {
		CHECK_U64(events_of(&p), 100);
		profile_close(&p);
	}
	run_without(SYS_madvise, EINVAL, "fork"); /* no page that a fork wipes */
	run_without(SYS_getrandom, ENOSYS, "fork");
	run_without(SYS_readlink, ENOENT, "small-fill"); /* no /proc */
	pid = run_without(SYS_fallocate, ENOSPC, "small-fill-no-room");
	CHECK(!pid || !profile_path(pid, "", path)); /* not even room for the header: no file is left */
}

/* -- places -- */

static int runs_silently(const char *out)
{
	int fds[2], status = -1;
	char text[512];
	ssize_t n;
	pid_t pid;

	if (pipe(fds) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		char *argv[] = {self, (char *)(uintptr_t)"small-fill", NULL};

		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		if (out)
			setenv("WAYMARK_OUT", out, 1);
		else
			unsetenv("WAYMARK_OUT");
		if (chdir("/proc") != 0)
			_exit(126);
		execv(self, argv);
		_exit(127);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof text - 1);
	close(fds[0]);
	waitpid(pid, &status, 0);
	CHECK_U64(status, 0);
	text[n > 0 ? n : 0] = '\0';
	if (n > 0)
		CHECK(strchr(text, '\n') == text + n - 1 && strstr(text, "waymark: WAYMARK_OUT") == text);
	return n == 0;
}

static void test_unusable(void)
{
	CHECK(runs_silently(NULL)); /* nothing asked for: /proc cannot be written, and nothing is said */
	CHECK(!runs_silently("/nonexistent/place"));
	CHECK(!runs_silently("/dev/null/x"));
	CHECK(!runs_silently("/proc"));
}

/* Nothing is recorded where that is asked for, nor complained of. */
static void test_null(void)
{
	char link[512], other[520];

	snprintf(link, sizeof link, "%s/nothing", profile_dir());
	snprintf(other, sizeof other, "%s.1", link);
	CHECK(symlink("/dev/null", link) == 0);
	CHECK(runs_silently(link));
	CHECK(access(other, F_OK) != 0);
}

static void test_pattern(void)
{
	char pattern[512], path[512];
	struct profile p;
	int status = -1;
	pid_t pid;

	snprintf(pattern, sizeof pattern, "%s/a%%%%b-%%p-%%e", profile_dir());
	pid = run("small-fill", "WAYMARK_OUT", pattern, &status);
	CHECK_U64(status, 0);
	snprintf(path, sizeof path, "%s/a%%b-%d-test_process", profile_dir(), (int)pid);
	if (profile_open(path, &p)) {
		CHECK_U64(events_of(&p), 100);
		profile_close(&p);
	}
}

static void test_percent(void)
{
	char dir[512], path[1024];
	struct profile p;
	int status = -1;
	pid_t pid;

	snprintf(dir, sizeof dir, "%s/100%%p", profile_dir());
	CHECK(mkdir(dir, 0700) == 0);
	pid = run("small-fill", "WAYMARK_OUT", dir, &status);
	snprintf(path, sizeof path, "%s/waymark-test_process-%d.wmk", dir, (int)pid);
	if (profile_open(path, &p))
		profile_close(&p);
}

/* -- names -- */

static unsigned int entries_of(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2; /* . and .. */
}

/* A recording of a process of the case at that path, for its user alone, and `others` beside it. */
static void check_place(const char *dir, const char *path, unsigned int others)
{
	struct profile p;
	struct stat st;

	CHECK_U64(entries_of(dir), others + 1);
	CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0600);
	if (profile_open(path, &p)) {
		CHECK_U64(events_of(&p), 100);
		profile_close(&p);
	}
}

/* Containers with one shared directory, in each of which the process has pid 1: no name is tried one by one, and no recording is lost. */
static void test_taken_names(void)
{
	enum {
		TAKEN = 12000,
	};
	char dir[512], path[1024], out[1024];
	int status = -1;

	snprintf(dir, sizeof dir, "%s/taken", profile_dir());
	CHECK(mkdir(dir, 0700) == 0);
	for (unsigned int i = 0; i < TAKEN; i++) {
		snprintf(path, sizeof path, i ? "%s/x.%u.wmk" : "%s/x.wmk", dir, i);
		CHECK(symlink("nowhere", path) == 0);
	}
	snprintf(out, sizeof out, "%s/x.wmk", dir);
	run("small-fill", "WAYMARK_OUT", out, &status);
	CHECK_U64(status, 0);
	snprintf(path, sizeof path, "%s/x.%d.wmk", dir, TAKEN);
	check_place(dir, path, TAKEN); /* and no link was followed */
	/* Of two gaps one is taken, whichever. */
	snprintf(path, sizeof path, "%s/x.77.wmk", dir);
	CHECK(unlink(path) == 0 && unlink(out) == 0);
	run("small-fill", "WAYMARK_OUT", out, &status);
	CHECK_U64(status, 0);
	check_place(dir, out, TAKEN - 1);
}

/* Where a rename can replace only. */
static void test_plain_rename(void)
{
	char dir[512], out[1024];
	const char *before = strdup(profile_dir());

	snprintf(dir, sizeof dir, "%s/plain", before);
	snprintf(out, sizeof out, "%s/x.wmk", dir);
	CHECK(mkdir(dir, 0700) == 0 && setenv("WAYMARK_OUT", out, 1) == 0);
	if (run_without(SYS_renameat2, EINVAL, "small-fill")) {
		check_place(dir, out, 0);
		snprintf(out, sizeof out, "%s/x.1.wmk", dir);
		run_without(SYS_renameat2, EINVAL, "small-fill");
		check_place(dir, out, 1);
	}
	if (run_without(SYS_fallocate, ENOSPC, "small-fill-no-room"))
		CHECK_U64(entries_of(dir), 2); /* no file without a header is left */
	CHECK(setenv("WAYMARK_OUT", before, 1) == 0);
}

static void case_small_fill(void)
{
	fill(100);
}

static void case_no_room(void)
{
	wm_context c;

	fill(100);
	PUSHED(3, c = here());
	CHECK_U64(c.prefix, WM_PREFIX_LOST);
	CHECK_U64(stack_of(5, 0).prefix, WM_PREFIX_LOST);
}

/* -- descriptors -- */

static void case_fds(void)
{
	struct profile p;
	int low = dup(0), fd;

	close(low);
	fill(3000);
	fd = dup(0);
	CHECK_U64(fd, low); /* ours is out of the way */
	close(fd);
	/* a daemon closes all, and something else gets our number */
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd < 600)
		;
	CHECK(chdir("/") == 0);
	fill(6000);
	if (profile_of(getpid(), "", &p)) {
		CHECK_U64(events_of(&p), 9000);
		CHECK_U64(p.file.header.dropped_events, 0);
		profile_close(&p);
	}
}

static void case_few_fds(void)
{
	struct rlimit limit = {20, 20};
	struct profile p;

	setrlimit(RLIMIT_NOFILE, &limit);
	fill(3000);
	if (profile_of(getpid(), "", &p)) {
		CHECK_U64(events_of(&p), 3000);
		profile_close(&p);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*check)(pid_t pid); /* in the parent, after */
} cases[] = {
	{"fork", case_fork, NULL},
	{"fork-threads", case_fork_threads, NULL},
	{"vfork", case_vfork, NULL},
	{"exec", case_exec, check_exec},
	{"kill", case_kill, NULL},
	{"fds", case_fds, NULL},
	{"few-fds", case_few_fds, NULL},
	{"exec-again", case_exec_again, NULL},
	{"fill", case_fill, NULL},
	{"rlimit", case_rlimit, NULL},
	{"small-fill", case_small_fill, NULL},
	{"small-fill-no-room", case_no_room, NULL},
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
	for (i = 0; i < 7; i++) {
		int status = -1;
		pid_t pid = run(cases[i].name, NULL, NULL, &status);

		if (!CHECK_U64(status, 0))
			fprintf(stderr, "case %s\n", cases[i].name);
		if (cases[i].check)
			cases[i].check(pid);
	}
	test_limit();
	test_rlimit();
	test_full_disk();
	test_unusable();
	test_null();
	test_pattern();
	test_percent();
	test_lacking();
	test_taken_names();
	test_plain_rename();
	return check_status();
}
