#!/bin/bash
# seccomp.sh BUILD - programs that install a filter of system calls, under the agent and built by `waymark cc`: they go on as they do
# natively, the end of the recording is told, and what was recorded until then is whole.
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
needs gcc

# program MODE: works, installs the filter, and does what is new to the agent with next to no system call allowed.
cat >program.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD(off) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, off)
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static volatile long sink;
static jmp_buf out;
static atomic_int is_ready;

__attribute__((noinline)) static void *before(size_t n)
{
	return malloc(n);
}

__attribute__((noinline)) static long leaf(long n)
{
	return n + sink;
}

__attribute__((noinline)) static long deep(long n)
{
	return n ? leaf(n) + deep(n - 1) : leaf(0);
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b + (int)(leaf(1) * 0);
}

static void on_signal(int sig)
{
	sink += deep(sig);
}

__attribute__((noinline)) static void jumps(int n)
{
	if (n == 0)
		longjmp(out, 3);
	jumps(n - 1);
}

/* None of this was called before. */
__attribute__((noinline)) static int after(void)
{
	long (*volatile f)(long) = deep;
	int values[] = {4, 2, 7};
	char *block = malloc(100);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
	qsort(values, 3, sizeof *values, compare);
	if (!setjmp(out))
		jumps(4);
	return (int)(f(1000) % 97) + values[0];
}

static void *work(void *data)
{
	volatile long sum = 0;

	is_ready = 1;
	for (;;)
		sum += deep(3);
	return data;
}

static void install(int kind, unsigned int flags)
{
	struct sock_filter few[] = {
		LOAD(offsetof(struct seccomp_data, nr)), ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_exit),
		ALLOW(SYS_rt_sigreturn), ALLOW(SYS_tgkill), ALLOW(SYS_futex), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	struct sock_filter none[] = {
		LOAD(offsetof(struct seccomp_data, nr)), ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_wait4), ALLOW(SYS_clone),
		ALLOW(SYS_execve), ALLOW(SYS_openat), ALLOW(SYS_read), ALLOW(SYS_close), ALLOW(SYS_mmap), ALLOW(SYS_mprotect),
		ALLOW(SYS_newfstatat), ALLOW(SYS_pread64), ALLOW(SYS_arch_prctl), ALLOW(SYS_brk), ALLOW(SYS_set_tid_address),
		ALLOW(SYS_set_robust_list), ALLOW(SYS_munmap), ALLOW(SYS_access), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
	struct sock_fprog program = {.len = kind == 'e' ? sizeof none / sizeof *none : sizeof few / sizeof *few,
				     .filter = kind == 'e' ? none : few};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		exit(77);
	if (kind == 'p' ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
			: syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program))
		exit(77);
}

int main(int argc, char **argv)
{
	int mode = argv[1][0], sum = 0;
	pthread_t thread;
	pid_t own = getpid();
	char text[64];
	void *blocks[10];

	for (int i = 0; i < 10; i++)
		blocks[i] = before(1000);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3000; i++)
		sum += (int)leaf(i);
	if (mode == 't') {
		pthread_create(&thread, NULL, work, NULL);
		while (!is_ready)
			;
	}
	/* As libraries find out what there is. */
	if (mode == 'n') {
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != -1 || errno != EFAULT)
			exit(77);
	} else if (mode == 's') {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	} else {
		install(mode, mode == 't' ? SECCOMP_FILTER_FLAG_TSYNC : 0);
	}
	sum += after();
	if (mode == 'p')
		syscall(SYS_tgkill, own, own, SIGUSR1);
	if (mode == 'e') {
		int status;
		pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0) {
			execl("/bin/echo", "echo", "a child", (char *)NULL);
			_exit(3);
		}
		if (wait4(pid, &status, 0, NULL) != pid)
			return 9;
		sum += status;
	}
	snprintf(text, sizeof text, "%d %d\n", sum, blocks[9] != NULL);
	write(1, text, strlen(text));
	if (mode == 's')
		syscall(SYS_exit, 5);
	_exit(5);
}
END
gcc -w -O1 -pthread -o program program.c || exit 1

for mode in p k t e s; do
	for options in "--sample --heap --encode" "--check" "--heap --encode"; do
		./program $mode >want.txt 2>want.err
		want=$?
		[ $want -ne 77 ] || { echo "no filters here"; continue; }
		rm -f run*.wmk
		# shellcheck disable=SC2086
		"$waymark" run --events $options -o "$dir/run.wmk" ./program $mode >got.txt 2>got.err
		got=$?
		[ $got = $want ] || fail "$mode $options: exit status $got, without the agent $want"
		cmp -s want.txt got.txt || { fail "$mode $options: prints something else"; cat got.txt; }
		[ "$(grep -c "asks for a seccomp filter, under which the agent cannot work: its recording ends here" got.err)" = 1 ] ||
			{ fail "$mode $options: not one line says so"; cat got.err; }
		[ $mode != e ] || grep -q 'seccomp filter that was installed since' got.err || { fail "$mode: nothing is said of its child"; cat got.err; }
		[ "$options" = --check ] && continue
		"$waymark" report --format folded --metric bytes run.wmk >folded.txt 2>&1 || fail "$mode $options: report"
		grep -q '^main;before;\[malloc\] 10000$' folded.txt || { fail "$mode $options: not what was allocated before"; cat folded.txt; }
		! grep -q after folded.txt || fail "$mode $options: what came after the filter"
		"$waymark" report run.wmk | head -n 1 | grep -q 'went on unrecorded, under a seccomp filter$' ||
			fail "$mode $options: the report does not say how it ended"
	done
done
# Built by `waymark cc`: the same, and the recording alone says so. Threads: of a program whose threads the filter is not for.
if "$waymark" cc -w -O1 -pthread -o built program.c 2>build.txt; then
	for mode in p k t e s; do
		./program $mode >want.txt 2>want.err
		want=$?
		[ $want -ne 77 ] || continue
		rm -f run*.wmk
		"$waymark" run --heap -o "$dir/run.wmk" ./built $mode >got.txt 2>got.err
		got=$?
		[ $got = $want ] || fail "built, $mode: exit status $got, natively $want"
		cmp -s want.txt got.txt || { fail "built, $mode: prints something else"; cat got.txt; }
		"$waymark" report run.wmk >report.txt 2>&1 || fail "built, $mode: report"
		head -n 1 report.txt | grep -q 'went on unrecorded, under a seccomp filter$' ||
			{ fail "built, $mode: the report does not say how it ended"; head -n 1 report.txt; }
		"$waymark" report --format folded --metric bytes run.wmk >folded.txt 2>&1
		grep -q '^main;before;\[malloc\] 10000$' folded.txt || { fail "built, $mode: not what was allocated before"; cat folded.txt; }
		! grep -q after folded.txt || fail "built, $mode: what came after the filter"
	done
	"$waymark" run -q --heap -o "$dir/asks-too.wmk" ./built n >/dev/null || [ $? -eq 5 ] || fail "built, a program that asks"
	"$waymark" report --format folded --metric bytes asks-too.wmk | grep -q '^main;after;\[malloc\] 100$' ||
		fail "built, a program that asks: not recorded on"
fi
# Asking what there is is no filter.
"$waymark" run --heap --encode -o "$dir/asks.wmk" ./program n >/dev/null 2>got.err
[ $? -eq 5 ] || fail "a program that asks"
! grep -q 'seccomp filter' got.err || { fail "a program that asks: taken for one that filters"; cat got.err; }
"$waymark" report --format folded --metric bytes asks.wmk | grep -q '^main;after;\[malloc\] 100$' || fail "a program that asks: not recorded on"
finish
