/*
 * test_damage.c - what others may do to the file while it is recorded costs records and nothing else: they truncate it, write all over
 * it, or let it have no room. Runs itself again (execv) with the name of a case.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "again.h"
#include "path.h"
#include "push.h"

enum {
	THREADS = 3,
	ROUNDS = 3000,
	NAMES = 2000,
	PATHS = 50,
};

static char names[NAMES][64];

PATH_FUNCTION(array, WM1_PATHS_ARRAY, 0, PATHS, 1001);
PATH_FUNCTION(hash, WM1_PATHS_HASH, 3, 8, 1002);

/* -- all kinds of records, old ones and new ones -- */

static void work(uint32_t seed)
{
	uint64_t *table = path_enter(&array, &array_slot);
	uint64_t r = seed % 500 + 1;

	path_incq(&table[2 + seed % PATHS]);
	table = path_enter(&hash, &hash_slot);
	wm1_path_miss(&hash, table, r);
	wm1_thread_state.id = seed % 700;
	PUSHED(30 + seed % 50, wm1_event(push_image.site_base + 1, names[seed % NAMES], seed));
	wm1_thread_state.id = 0;
}

static void work_all(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		work(i * 7);
}

static atomic_int is_over;
static atomic_uint rounds;

static void *work_on(void *arg)
{
	for (uint32_t i = (uint32_t)(uintptr_t)arg; !is_over; i++) {
		work(i);
		rounds++;
	}
	return NULL;
}

static void make_names(void)
{
	for (int i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof names[i], "event number %d with a text that soon fills chunks", i);
}

/* -- files -- */

static void own_path(char path[512])
{
	if (!CHECK(profile_path(getpid(), "", path)))
		exit(1);
}

static void cut(off_t len_bytes)
{
	char path[512];

	own_path(path);
	CHECK(truncate(path, len_bytes) == 0);
}

static void scribble(void)
{
	unsigned char page[4096];
	char path[512];
	uint32_t seed = 1;
	off_t end, off;
	int fd;

	own_path(path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	end = lseek(fd, 0, SEEK_END);
	for (off = 0; off < end; off += (off_t)sizeof page) {
		for (size_t i = 0; i < sizeof page; i++)
			page[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
		CHECK_U64(pwrite(fd, page, sizeof page, off), sizeof page);
	}
	close(fd);
}

/* A forked child works on. Without the tables of a file that was cut it records nothing. */
static void check_child(bool is_recorded)
{
	char path[512];
	pid_t pid = fork();

	if (pid == 0) {
		work_all();
		_exit(0);
	}
	CHECK_U64(finished(pid), 0);
	CHECK_U64(profile_path(pid, "", path), is_recorded);
}

static void with_threads(void (*damage)(void), bool is_child_recorded)
{
	pthread_t threads[THREADS];
	unsigned int before;

	make_names();
	work_all();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work_on, (void *)(i * 1000));
	while (rounds < ROUNDS)
		sched_yield();
	damage();
	before = rounds;
	while (rounds < before + ROUNDS)
		sched_yield();
	check_child(is_child_recorded);
	is_over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	work_all();
}

/* -- truncated -- */

/* What is left of the file says what happened. */
static void check_told(void)
{
	struct profile p;
	char path[512];

	own_path(path);
	if (!profile_open(path, &p))
		return;
	CHECK_U64(p.file.header.pid, getpid());
	CHECK(p.file.header.run != 0);
	CHECK(p.file.header.flags & WMK_FLAG_LOST);
	CHECK(p.file.truncated != NULL);
	profile_close(&p);
}

static void cut_all(void)
{
	cut(0);
}

/* The header and some chunks stay. */
static void cut_half(void)
{
	cut(WMK_HEADER_BYTES + 3 * WMK_UNIT_BYTES + 500);
}

static void case_cut(void)
{
	with_threads(cut_all, false);
	check_told();
}

static void case_cut_half(void)
{
	with_threads(cut_half, false);
	check_told();
}

/* The child has no file of its own yet, and its parent's is cut before it makes one. */
static void case_cut_before_child(void)
{
	make_names();
	work_all();
	cut(0);
	check_child(false);
	work_all();
}

static void logs(int sig)
{
	(void)sig;
	work_all();
}

/* Where SIGBUS is blocked with all others the kernel would end the process rather than deliver it. */
static void case_cut_in_handler(void)
{
	struct sigaction act = {.sa_handler = logs}, now;

	make_names();
	sigfillset(&act.sa_mask);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR1, NULL, &now);
	CHECK(sigismember(&now.sa_mask, SIGBUS) == 1);
	work_all();
	cut(0);
	raise(SIGUSR1);
}

static void *cut_and_work(void *arg)
{
	sigset_t mask;

	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 1);
	work_all();
	cut(0);
	work_all();
	return arg;
}

static void case_cut_where_blocked(void)
{
	pthread_t thread;
	sigset_t all, was;

	make_names();
	work_all();
	sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &was) == 0 && sigismember(&was, SIGBUS) == 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &was) == 0 && sigismember(&was, SIGBUS) == 1);
	CHECK(pthread_create(&thread, NULL, cut_and_work, NULL) == 0);
	pthread_join(thread, NULL);
}

/* -- the program's own SIGBUS -- */

static sigjmp_buf out;
static void *volatile fault_at;
static volatile int fault_code, fault_count;

static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	fault_at = info->si_addr;
	fault_code = info->si_code;
	fault_count = fault_count + 1;
	if (fault_count > 5)
		_exit(9); /* again and again */
	if (sig == SIGBUS && info->si_code > 0)
		siglongjmp(out, 1);
}

/* A page that is not there: of a file of the program's own. */
static volatile char *missing_page(void)
{
	char path[512];
	void *at;
	int fd;

	snprintf(path, sizeof path, "%s/of-the-program-%d", profile_dir(), (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(ftruncate(fd, 4096) == 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ftruncate(fd, 0) == 0);
	close(fd);
	return at;
}

static void case_own_handler(void)
{
	struct sigaction act = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, old;
	volatile char *page = missing_page();

	make_names();
	work_all();
	CHECK(sigaction(SIGBUS, &act, &old) == 0 && old.sa_handler == SIG_DFL);
	CHECK(sigaction(SIGBUS, NULL, &old) == 0 && old.sa_sigaction == on_bus);
	if (!sigsetjmp(out, 1))
		page[100] = 1;
	CHECK_U64(fault_count, 1);
	CHECK(fault_at == page + 100);
	CHECK_U64(fault_code, BUS_ADRERR);
	raise(SIGBUS);
	CHECK_U64(fault_count, 2);
	cut(0);
	work_all();
	CHECK_U64(fault_count, 2); /* none of the program's */
	if (!sigsetjmp(out, 1))
		page[200] = 1;
	CHECK_U64(fault_count, 3);
	CHECK(fault_at == page + 200);
}

/* How a child ends that does that with SIGBUS's action. */
static int ends(void (*action)(int), bool is_fault)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (action != SIG_DFL)
			signal(SIGBUS, action);
		work_all();
		if (is_fault)
			*missing_page() = 1;
		else
			kill(getpid(), SIGBUS);
		_exit(7);
	}
	return finished(pid);
}

static void case_no_handler(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	make_names();
	work_all();
	CHECK_U64(ends(SIG_DFL, true), 1000 + SIGBUS);
	CHECK_U64(ends(SIG_DFL, false), 1000 + SIGBUS);
	CHECK_U64(ends(SIG_IGN, true), 1000 + SIGBUS); /* as in the kernel */
	CHECK_U64(ends(SIG_IGN, false), 7);
}

/* -- written over -- */

static void case_scribbled(void)
{
	with_threads(scribble, true);
}

/* -- modes -- */

static void check_mode(mode_t mask)
{
	pid_t pid = fork();
	struct stat st;
	char path[512];

	if (pid == 0) {
		umask(mask);
		work(1);
		_exit(0);
	}
	CHECK_U64(finished(pid), 0);
	if (CHECK(profile_path(pid, "", path)) && CHECK(stat(path, &st) == 0))
		CHECK_U64(st.st_mode & 07777, 0600);
}

static void case_mode(void)
{
	make_names();
	check_mode(0);
	check_mode(022);
	check_mode(0777);
}

/* -- no place -- */

static void forks_and_works(int depth)
{
	pid_t pid = fork();

	if (pid == 0) {
		work((uint32_t)depth);
		if (depth)
			forks_and_works(depth - 1);
		_exit(check_status());
	}
	CHECK_U64(finished(pid), 0);
}

/* The directory goes away, as for who changes its root or its user: it stands in for both, which need privileges. */
static void case_no_place(void)
{
	char path[512], moved[600];
	struct profile p;

	make_names();
	work(1);
	own_path(path);
	snprintf(moved, sizeof moved, "%s-moved", profile_dir());
	CHECK(rename(profile_dir(), moved) == 0);
	forks_and_works(2);
	forks_and_works(0);
	CHECK(rename(moved, profile_dir()) == 0);
	if (profile_open(path, &p)) {
		CHECK_U64(p.file.header.lost_children, 4);
		CHECK_U64(p.file.whole_count[WMK_EVENTS], 1);
		profile_close(&p);
	}
}

/* -- no room -- */

/* Any further system call but those ends the process; installed past libc, which the runtime may stand in front of. */
static bool forbid_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	long rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(SYS_prctl), "D"(PR_SET_SECCOMP), "S"(SECCOMP_MODE_FILTER), "d"(&program)
			 : "rcx", "r11", "memory");
	return rc == 0;
}

static void case_full(void)
{
	static char more[64];

	make_names();
	for (uint32_t i = 0; i < 10 * ROUNDS; i++)
		work(i);
	if (!forbid_calls()) {
		fprintf(stderr, "no system call filters: not tested what a full recording costs\n");
		return;
	}
	for (uint32_t i = 0; i < 10 * ROUNDS; i++) {
		work(i);
		more[i % 40] = (char)('a' + i % 26);
		more[40] = (char)i;
		wm1_event(push_image.site_base + 1, more, 1);
	}
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(check_status()) : "rcx", "r11", "memory");
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *limit;
} cases[] = {
	{"cut", case_cut, NULL},
	{"cut-half", case_cut_half, NULL},
	{"cut-before-child", case_cut_before_child, NULL},
	{"cut-in-handler", case_cut_in_handler, NULL},
	{"cut-where-blocked", case_cut_where_blocked, NULL},
	{"own-handler", case_own_handler, NULL},
	{"no-handler", case_no_handler, NULL},
	{"scribbled", case_scribbled, NULL},
	{"mode", case_mode, NULL},
	{"no-place", case_no_place, NULL},
	{"full", case_full, "250K"}, /* too little to recycle chunks of events */
};

int main(int argc, char **argv)
{
	find_self(argv);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int status = -1;

		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return check_status();
		}
		if (argc > 1)
			continue;
		run(cases[i].name, cases[i].limit ? "WAYMARK_LIMIT" : NULL, cases[i].limit, &status);
		if (!CHECK_U64(status, 0))
			fprintf(stderr, "case %s\n", cases[i].name);
	}
	return check_status();
}
