#!/bin/bash
# robust.sh BUILD - programs that do what samplers break: at 10,000 samples a second of CPU time each prints what it prints alone, ends as it
# does alone, and leaves recordings that can be read.
set -u
waymark=$1/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-sampler.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
command -v gcc >/dev/null || { echo "gcc is missing"; exit 77; }
failures=0 compiler=gcc

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# folded NAME: of all its runs
folded() {
	files=(out/*.wmk)
	{ [ ! -f "${files[0]}" ] || "$waymark" report --format folded "${files[@]}" || fail "$1: report"; } >folded.txt 2>report.err
}

# check NAME FRAMES [GCC-OPTION...]: the program on standard input. FRAMES must be in a folded stack; empty: there need be no sample.
check() {
	local name=$1 frames=$2 alone=0 sampled=0
	shift 2
	{ cat common.h; cat; } >"$name.c"
	"$compiler" -w -D_GNU_SOURCE -O1 -o "$name" "$name.c" -lpthread -ldl "$@" || { fail "$name: build"; return; }
	"./$name" >alone.txt 2>alone.err || alone=$?
	rm -rf out && mkdir out
	timeout -k 5 100 "$waymark" run -q --sample=10000 -o out/ "./$name" >sampled.txt 2>sampled.err || sampled=$?
	[ $sampled -eq $alone ] || fail "$name: status $sampled, alone $alone: $(cat sampled.err)"
	cmp -s alone.txt sampled.txt || fail "$name: prints something else: $(diff alone.txt sampled.txt | head -3)"
	grep -v '^waymark' sampled.err | cmp -s - alone.err || fail "$name: standard error: $(cat sampled.err)"
	folded "$name"
	# Where processors are busy a run of some milliseconds has a sample or two.
	for _ in 1 2 3 4 5 6 7 8; do
		[ -n "$frames" ] && ! grep -q "$frames" folded.txt || break
		timeout -k 5 100 "$waymark" run -q --sample=10000 -o out/ "./$name" >sampled.txt 2>sampled.err
		folded "$name"
	done
	! grep -q '^\[unknown\]\|damaged' folded.txt report.err || fail "$name: $(grep -h -m 1 'unknown\|damaged' folded.txt report.err)"
	[ -z "$frames" ] || grep -q "$frames" folded.txt || fail "$name: no $frames in $(head -3 folded.txt)"
}

cat >common.h <<'END'
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long sink;
/* Until the thread has used so many ms of CPU time more: time for samples, so without the sampler there is next to none. */
static __attribute__((noinline)) void spin(long ms)
{
	struct timespec from, now;
	if (!getenv("WAYMARK_SAMPLE"))
		ms /= 50;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		for (int i = 0; i < 20000; i++)
			sink += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}
END

check execs 'main;spin' <<'END'
/* Becomes itself again and again: a tick that is pending meanwhile would end what is executed. */
int main(int argc, char **argv)
{
	char count[16];
	int left = argc > 1 ? atoi(argv[1]) : 150;
	spin(2);
	if (left == 0)
		return 7;
	snprintf(count, sizeof count, "%d", left - 1);
	if (left % 3 == 0)
		execl("/nowhere", "nowhere", NULL);
	execl("/proc/self/exe", argv[0], count, NULL);
	return 1;
}
END

check unseen 'main;spin' -rdynamic <<'END'
/* As an emulator or a Go program: what it executes must not end by a tick that comes in the system call. */
#include <sys/syscall.h>
char _cgo_topofstack[1];
extern char **environ;
int main(int argc, char **argv)
{
	char count[16], *arguments[] = {argv[0], count, NULL};
	int left = argc > 1 ? atoi(argv[1]) : 100;
	spin(1);
	if (left == 0)
		return 7;
	snprintf(count, sizeof count, "%d", left - 1);
	syscall(SYS_execve, "/proc/self/exe", arguments, environ);
	return 1;
}
END

check allocates '' <<'END'
/* The program's malloc is not ready before main. */
static char memory[1 << 24];
static size_t used;
static int is_ready, early;
void *malloc(size_t size)
{
	void *ret = memory + used;
	early += !is_ready;
	used += (size + 15) & ~15ul;
	return ret;
}
void free(void *block)
{
}
void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}
void *realloc(void *block, size_t size)
{
	return block ? memcpy(malloc(size), block, size) : malloc(size);
}
int main(void)
{
	is_ready = 1;
	spin(20);
	printf("%d\n", early);
	return 0;
}
END

check forks 'main;spin' <<'END'
int main(void)
{
	int bad = 0, status;
	for (int i = 0; i < 60; i++) {
		pid_t pid = i % 2 ? fork() : vfork();
		if (pid == 0) {
			if (i % 2) {
				spin(3);
				_exit(3);
			}
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		spin(1);
		waitpid(pid, &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != (i % 2 ? 3 : 0);
	}
	printf("%d\n", bad);
	return bad;
}
END

check threads '\[thread\];work' <<'END'
static void *work(void *data)
{
	spin(2);
	if ((long)data % 3 == 0)
		pthread_exit(data);
	return data;
}
int main(void)
{
	pthread_t threads[8];
	long sum = 0;
	for (int round = 0; round < 25; round++) {
		for (long i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, work, (void *)i);
		for (int i = 0; i < 8; i++) {
			void *result;
			pthread_join(threads[i], &result);
			sum += (long)result;
		}
	}
	printf("%ld\n", sum);
	return 0;
}
END

echo 'int twice(int (*f)(int), int n) { return f(n) + f(n + 1); }' >library.c
gcc -O1 -shared -fPIC -o library.so library.c || fail "library"
check unloads 'main;.*spin' <<'END'
static int call(int n)
{
	spin(1);
	return n;
}
static void *load(void *data)
{
	long sum = 0;
	for (int i = 0; i < 60; i++) {
		void *library = dlopen("./library.so", RTLD_NOW);
		int (*twice)(int (*)(int), int) = dlsym(library, "twice");
		sum += twice(call, i);
		dlclose(library);
	}
	return (void *)sum;
}
int main(void)
{
	pthread_t other;
	void *result;
	pthread_create(&other, NULL, load, NULL);
	load(NULL);
	pthread_join(other, &result);
	printf("%ld\n", (long)result);
	return 0;
}
END

check waits '' <<'END'
/* Calls that the kernel does not make again by itself: EINTR is for signals of the program alone. */
int main(void)
{
	struct pollfd none = {-1, POLLIN, 0};
	struct epoll_event event;
	struct timespec ms = {0, 1000000};
	int fd = epoll_create1(0), interrupted = 0;
	for (int i = 0; i < 600; i++) {
		interrupted += poll(&none, 1, 1) < 0;
		interrupted += epoll_wait(fd, &event, 1, 1) < 0;
		interrupted += nanosleep(&ms, NULL) < 0;
		interrupted += usleep(500) < 0;
		spin(0);
	}
	printf("%d\n", interrupted);
	return interrupted;
}
END

check deep '^\[too deep\];.*down' <<'END'
/* A walk takes longer than from one tick to the next. */
static __attribute__((noinline)) int down(int n)
{
	if (n)
		return down(n - 1) + 1;
	spin(400);
	return 0;
}
int main(void)
{
	printf("%d\n", down(80000));
	return 0;
}
END

check stacks 'main;.*spin' <<'END'
/* A handler that uses nearly all of a small alternate stack. */
static volatile int handled;
static void handler(int sig)
{
	volatile char room[1200];
	memset((char *)room, sig, sizeof room);
	spin(1);
	handled += room[100] == sig;
}
int main(void)
{
	size_t bytes = sysconf(_SC_MINSIGSTKSZ) + 2048;
	char *memory = mmap(NULL, 4096 + 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_size = bytes};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	bytes = (bytes + 4095) & ~4095ul;
	mprotect(memory + 4096, 16384, PROT_READ | PROT_WRITE);
	stack.ss_sp = memory + 4096;
	stack.ss_size = bytes;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 40; i++) {
		raise(SIGUSR1);
		spin(1);
	}
	printf("%d\n", handled);
	return 0;
}
END

check queues '' <<'END'
/* Ticks that are blocked for long must not use up what the user may queue. */
#include <sys/syscall.h>
int main(void)
{
	unsigned long set = 1ul << 32;
	struct timespec none = {0, 0};
	int count = 0;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
	spin(300);
	while (syscall(SYS_rt_sigtimedwait, &set, NULL, &none, 8) == 33)
		count++;
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
	puts(count > 30 ? "many" : "few");
	return count > 30;
}
END

check closes 'main;later;spin' <<'END'
/* As a daemon: the descriptor of the clock goes, too. */
static __attribute__((noinline)) void later(void)
{
	spin(1500);
	sink++;
}
int main(void)
{
	spin(10);
	close_range(3, ~0u, 0);
	if (open("/dev/null", O_RDONLY) != 3)
		return 1;
	later();
	return write(3, "", 0) == 0 || errno != EBADF;
}
END

check truncates '' <<'END'
/* Somebody truncates the recordings while the program runs. */
int main(void)
{
	spin(50);
	system("for f in out/*.wmk out/.*.wmk* out/.waymark*; do [ -f \"$f\" ] && : >\"$f\"; done 2>/dev/null; true");
	spin(100);
	puts("lives");
	return 0;
}
END

check made 'main_\[fp\];made at run time' <<'END'
/* Code that was made at run time has no call frame information, but a frame pointer, and a name in perf's map. */
int main(void)
{
	/* push %rbp; mov %rsp, %rbp; 1: sub $1, %rdi; jnz 1b; pop %rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0x5d, 0xc3};
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;
	memcpy(at + 64, code, sizeof code);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	fprintf(map, "no entry\n%lx %x made at run time\n", (long)at + 64, (int)sizeof code);
	fclose(map);
	for (int i = 0; i < 50; i++)
		((void (*)(long))(at + 64))(3000000);
	return 0;
}
END
for file in out/*.wmk; do
	pid=${file##*-}
	rm -f "/tmp/perf-${pid%.wmk}.map"
done

# With as many signals waiting as the user may have, the kernel sends SIGIO for a tick of perf's.
cat >io.txt <<'END'
#include <sys/resource.h>
static _Atomic int handled;
static void handler(int sig)
{
	handled++;
}
/* One that meets a tick's signal which waits is one with it: SIGIO does not queue. */
static int end(void)
{
	fflush(stdout);
	for (;;)
		raise(SIGIO);
}
static int is_default(void)
{
	struct sigaction now;
	memset(&now, 1, sizeof now);
	return sigaction(SIGIO, NULL, &now) == 0 && now.sa_handler == SIG_DFL && !(now.sa_flags & SA_SIGINFO);
}
int main(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, was;
	struct rlimit limit;
	getrlimit(RLIMIT_SIGPENDING, &limit);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_SIGPENDING, &limit);
	printf("%d\n", is_default());
	spin(100);
	printf("%d\n", signal(SIGIO, SIG_IGN) == SIG_DFL);
	spin(20);
	printf("%d\n", sigaction(SIGIO, &action, &was) == 0 && was.sa_handler == SIG_IGN && is_default());
	spin(20);
	printf("%d\n", signal(SIGIO, handler) == SIG_DFL);
	raise(SIGIO);
	printf("%d\n", handled > 0);
	printf("%d\n", signal(SIGIO, SIG_DFL) == handler && is_default());
	spin(20);
	fflush(stdout);
	if (fork() == 0) {
		spin(50);
		end();
	}
	spin(20);
	wait(&(int){0});
	return END_OF_IT;
}
END
check waiting 'main;spin' -DEND_OF_IT=5 <io.txt
check waiting-ends 'main;spin' '-DEND_OF_IT=end()' <io.txt

# Sanitizers put functions of their own in front of the C library's: a tick that called one would wait for a lock that the interrupted code
# has, or handle the program's signals on the stack of the tick.
cat >sanitized.txt <<'END'
#include <setjmp.h>
#include <sys/time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;
static _Atomic int handled;
static void handler(int sig)
{
	handled = sig;
}
static __attribute__((noinline)) long work(int n)
{
	char *from = malloc(n % 100 + 1), *to = malloc(n % 100 + 1);
	long ret;
	memset(from, 1, n % 100 + 1);
	memcpy(to, from, n % 100 + 1);
	ret = to[n % 100];
	free(from);
	free(to);
	return ret;
}
static void *run(void *data)
{
	jmp_buf env;
	for (volatile int i = 0; i < 8000; i++) {
		long value = work(i);
		if (i % 100 == 0 && setjmp(env) == 0)
			longjmp(env, 1);
		pthread_mutex_lock(&mutex);
		total += value;
		pthread_mutex_unlock(&mutex);
	}
	if (data)
		pthread_exit(data);
	return NULL;
}
int main(void)
{
	struct itimerval often = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_t threads[3];
	sigset_t set;
	int bad = 0, status;
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	for (int round = 0; round < 3; round++) {
		/* The signal is the main thread's alone. */
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		for (long i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, run, (void *)i);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
		run(NULL);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		setitimer(ITIMER_REAL, &none, NULL);
		pid_t pid = fork();
		if (pid == 0) {
			run(NULL);
			_exit(5);
		}
		waitpid(pid, &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 5;
	}
	printf("%ld %d\n", total, bad);
	return 4;
}
END
nm -D --undefined-only "${waymark%/*}/src/sampler/libwaymark-sample.so" >calls.txt || fail "nm"
! grep -E ' (mem[a-z]+|bcmp|str(n?len|n?cmp|n?cpy|r?chr|str)|clock_gettime|nanosleep|read|write|_*(sig)?setjmp)@' calls.txt || fail "the sampler calls these of the program's"
for kind in gcc:address gcc:thread gcc:leak gcc:undefined clang-19:address clang-19:thread clang-19:memory; do
	compiler=${kind%:*}
	# Not every compiler has each, and not every kernel runs each.
	echo 'int main(void){return 0;}' | "$compiler" -x c - -o probe "-fsanitize=${kind#*:}" 2>/dev/null && ./probe 2>/dev/null ||
		{ echo "left out: $kind"; continue; }
	check "sanitized-$compiler-${kind#*:}" 'main;.*work' -g "-fsanitize=${kind#*:}" <sanitized.txt
done
compiler=gcc

check frametable 'main;spin' -rdynamic <<'END'
/* An OCaml program has a table of its return addresses: nothing changes them. */
char caml_frametable[1];
int main(void)
{
	spin(20);
	return 0;
}
END
[ $failures -eq 0 ]
