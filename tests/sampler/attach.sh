#!/bin/bash
# attach.sh BUILD SOURCES [MODE...] - `waymark attach` takes samples by walks: programs go on, print and end as without, wherever they are
# found and as often as it comes and goes; threads that are there and that come later are sampled; after --detach the process is as it was.
# SOURCES: tests/agent, whose programs are used.
set -u
sources=$(realpath "$2")
# shellcheck source=tests/agent/lib.sh
. "$sources/lib.sh"
# shellcheck source=tests/agent/attach_lib.sh
. "$sources/attach_lib.sh"
shift 2

# signals: which the process has handlers for; perf's descriptors, timers
signals() {
	grep -hE '^Sig(Cgt|Ign)' "/proc/$pid/status"
	find "/proc/$pid/fd" -lname 'anon_inode:*perf*' 2>/dev/null
	cat "/proc/$pid/timers"
}

# attach LABEL SAMPLES: in, so many samples, out
attach() {
	attach_with "$1" "$2" --sample=4999 || return
	[ "$2" -eq 0 ] && return 0
	grep -q '^waymark attach: [0-9]* samples$' said.txt || { fail "$1: says"; cat said.txt; }
	folded "$1"
	! grep -q '^\[unknown\]\|damaged' folded.txt || fail "$1: $(grep -m 1 'unknown\|damaged' folded.txt)"
}

# let_end LABEL STATUS LINES: lets it end
let_end() {
	end_program "$@"
	[ ! -s err.txt ] || { fail "$1: says"; cat err.txt; }
}

# works PROGRAM MODE STATUS LINES PATTERN [SAMPLES] - twice in and out
works() {
	begin "$1" "$2" || return
	signals >before.txt
	attach "$2" "${6:-50}" && wants "$2" "$5" && attach "$2-again" "${6:-50}" && wants "$2-again" "$5"
	signals | diff before.txt - || fail "$2: signals, descriptors or timers are not as they were"
	let_end "$2" "$3" "$4"
}

# often MODE STATUS LINES PATTERN - programs with threads: in and out many times, in the midst of whatever they do
often() {
	local i
	begin threads "$1" || return
	attach "$1" 150 && wants "$1" "$4"
	for i in 1 2 3; do
		attach "$1-$i" 0 || break
	done
	attach "$1-again" 150 && wants "$1" "$4"
	let_end "$1" "$2" "$3"
}

# Waiting programs: in and out while it waits, and it goes on waiting: in the call NUMBER, made again as AGAIN.
waits() {
	begin work "$1" || return
	is_in "$2" || fail "$1: does not wait"
	attach "$1" 0
	is_in "$3" || fail "$1: does not wait any more"
	let_end "$1" 10 "$4"
}

# One thread alone at first: the C library takes the ticks' signal back when it makes the next one.
first_thread() {
	cat >first.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static const char *flag;
static volatile long sink;
static __attribute__((noinline)) void spin(long n) { while (n--) sink += n * sink; }
static void *early(void *unused) { while (access(flag, F_OK)) spin(100000); return NULL; }
static __attribute__((noinline)) void alone(void) { char c; while (read(0, &c, 1) != 1) ; }
int main(int argc, char **argv)
{
	pthread_t thread[3];
	flag = argv[1];
	puts("ready");
	fflush(stdout);
	alone();
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, early, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	puts("0 failures");
}
END
	gcc -w -O1 -pthread -o first first.c || { fail "first.c does not build"; return; }
	begin first || return
	patient timeout 200 "$waymark" attach -q --sample=4999 -o "$dir/first.wmk" "$pid" || fail "first: attach"
	echo x >&9
	./tool samples first.wmk 60 || fail "first: samples"
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "first: detach"
	"$waymark" report --format folded --metric cpu first.wmk >folded.txt 2>&1
	wants first '^\[thread\];early;spin '
	let_end first 0 ''
}

# So many threads that not all of their clocks start while the process stands still: each has one soon, and no sample has time from before.
crowd() {
	cat >crowd.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { THREADS = 150 };
static const char *flag;
static pthread_barrier_t barrier;
static __attribute__((noinline)) void spin(long n) { volatile long sink = 1; while (n--) sink += n * sink; }
static void *work(void *unused)
{
	spin(1000000);
	pthread_barrier_wait(&barrier);
	while (access(flag, F_OK)) { spin(100000); usleep(200000); }
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	flag = argv[1];
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_barrier_wait(&barrier);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("0 failures");
}
END
	gcc -w -O1 -pthread -o crowd crowd.c || { fail "crowd.c does not build"; return; }
	begin crowd || return
	local before used i
	before=$(cpu_ms)
	patient timeout 200 "$waymark" attach -q --sample=97 -o "$dir/crowd.wmk" "$pid" || fail "crowd: attach"
	for ((i = 0; i < 3000; i++)); do
		[ $(($(find "/proc/$pid/fd" -lname 'anon_inode:*perf*' 2>/dev/null | wc -l) + $(grep -c '^ID:' "/proc/$pid/timers"))) -lt 151 ] || break
		sleep 0.01
	done
	[ $i -lt 3000 ] || fail "crowd: threads without a clock"
	./tool samples crowd.wmk 100 || fail "crowd: samples"
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "crowd: detach"
	used=$(($(cpu_ms) - before))
	"$waymark" report --format folded --metric cpu crowd.wmk >folded.txt 2>&1
	wants crowd '^\[thread\];work;spin '
	awk -v most=$((used + 50)) '{sum += $NF / 1e6} END {exit sum > most}' folded.txt || fail "crowd: more time than the $used ms since"
	let_end crowd 0 ''
}

# Each allocation, of threads that are there and of one that comes, by walks that agree with those in full; alone, beside samples and waits, and where the
# agent was before.
heap_late='[thread]'
heap() {
	local label trails agreed lines=
	begin heap heap || return
	signals >before.txt
	export WAYMARK_HEAP=every-check
	visit_heap heap-1 --heap && check_heap heap-1
	visit_heap heap-2 --heap --sample=4999 --wall && check_heap heap-2
	unset WAYMARK_HEAP
	visit_heap heap-3 --heap && check_heap heap-3
	signals | diff before.txt - || fail "heap: signals, descriptors or timers are not as they were"
	for label in heap-1 heap-2; do
		"$waymark" report --format=json "$label.wmk" >report.json 2>/dev/null
		trails=$(sed -n 's/.*"samples_checked": \([0-9]*\).*/\1/p' report.json)
		agreed=$(sed -n 's/.*"samples_agreed": \([0-9]*\).*/\1/p' report.json)
		[ "${trails:-0}" -gt 4000 ] && [ "$trails" = "$agreed" ] || fail "$label: of $trails trails $agreed agree"
	done
	for label in heap-1 heap-2 heap-3; do lines+="before-$label"$'\n'"while-$label"$'\n'"after-$label"$'\n'; done
	end_program heap 0 "$lines"$'x\nend\n'
}

# Threads that allocate all the time, while it comes and goes.
heap_often() {
	local i
	begin threads frees || return
	for i in 1 2 3 4 5 6; do
		attach_with "frees-$i" 0 --heap || break
	done
	let_end frees 10 $'freed\n'
}

# cpu_ms: what the process has used
cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print int(($12 + $13) * 1000 / hz)}' "/proc/$pid/stat"
}

# A child is not sampled, and has nothing of its parent's: it can be attached to itself.
forks() {
	cat >forks.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
static __attribute__((noinline)) void spin(long n) { while (n--) sink += n * sink; }
int main(int argc, char **argv)
{
	int rounds = 0, status, failures = 0;
	pid_t last = 0;
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK)) {
		pid_t pid = fork();
		if (pid == 0) {
			spin(300000);
			if (rounds % 2)
				execl("/bin/true", "true", NULL);
			_exit(rounds % 2 ? 1 : 7);
		}
		spin(300000);
		waitpid(pid, &status, 0);
		failures += !WIFEXITED(status) || WEXITSTATUS(status) != (rounds % 2 ? 0 : 7);
		rounds++;
	}
	last = fork();
	if (last == 0) {
		puts("child");
		fflush(stdout);
		for (;;)
			spin(300000);
	}
	printf("child is %d\n", last);
	fflush(stdout);
	getchar();
	kill(last, SIGKILL);
	printf("%d failures\n", failures);
}
END
	gcc -w -O1 -o forks forks.c || { fail "forks.c does not build"; return; }
	begin forks || return
	patient timeout 200 "$waymark" attach -q --sample=9999 --heap -o "$dir/" "$pid" || fail "forks: attach"
	./tool samples "waymark-forks-$pid.wmk" 200 || fail "forks: samples"
	touch flag
	local i child
	for ((i = 0; i < 3000; i++)); do
		grep -qs '^child is' out.txt && grep -qs '^child$' out.txt && break
		sleep 0.01
	done
	child=$(sed -n 's/^child is //p' out.txt)
	grep -q '^SigCgt:	0000000000000000$' "/proc/$child/status" || fail "forks: the child has handlers: $(grep SigCgt "/proc/$child/status")"
	./tool text "$child" || fail "forks: code of the child is not as it was"
	patient timeout 200 "$waymark" attach -q --sample=4999 -o "$dir/child.wmk" "$child" || fail "forks: attach to the child"
	./tool samples child.wmk 20 || fail "forks: samples of the child"
	patient timeout 200 "$waymark" attach -q --detach "$child" || fail "forks: detach from the child"
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "forks: detach"
	echo x >&9
	exec 9>&-
	wait "$pid" || fail "forks: status"
	pids=()
	grep -q '^0 failures' out.txt || fail "forks: $(cat out.txt)"
	[ "$(find . -name 'waymark-*.wmk' | wc -l)" -eq 1 ] || fail "forks: recordings of children: $(echo waymark-*)"
}

# A tick that waits when another program is executed would end that.
execs() {
	cat >execs.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int left = argc > 2 ? atoi(argv[2]) : 400;
	char text[16], *next[] = {argv[0], argv[1], text, NULL};
	if (left == 400) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	snprintf(text, sizeof text, "%d", left - 1);
	if (left)
		execv("/proc/self/exe", next);
	puts("0 failures");
}
END
	local i
	gcc -w -O1 -o execs execs.c || { fail "execs.c does not build"; return; }
	for i in 1 2 3 4; do
		begin execs || return
		patient timeout 200 "$waymark" attach -q --sample=50000 -o "$dir/execs.wmk" "$pid" || fail "execs: attach"
		let_end execs 0 ''
		rm -f execs.wmk
	done
}

# The target ends by itself while it is sampled: the recording is whole.
ends() {
	begin work loop || return
	patient timeout 200 "$waymark" attach -q --sample=4999 -o "$dir/ends.wmk" "$pid" || fail "ends: attach"
	./tool samples ends.wmk 50 || fail "ends: samples"
	let_end ends 9 $'looped\n'
	"$waymark" report ends.wmk >folded.txt 2>&1 || fail "ends: report"
	wants ends 'ended through exit'
}

# A thread that the C library did not make is left alone, and others are sampled.
bare() {
	cat >bare.c <<'END'
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
static char stack[1 << 16], other[1 << 16];
static volatile long sink, count[2];
static int run(void *number)
{
	for (;;) { /* without the C library */
		long n = 100000;
		while (n--)
			sink += n * sink;
		count[(long)number]++;
	}
}
static __attribute__((noinline)) void spin(long n) { while (n--) sink += n * sink; }
int main(int argc, char **argv)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	long was;
	clone(run, stack + sizeof stack, flags, (void *)0);
	clone(run, other + sizeof other, flags | CLONE_SETTLS, (void *)1, NULL, NULL);
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK))
		spin(100000);
	puts("0 failures");
	fflush(stdout);
	_exit(0);
}
END
	gcc -w -D_GNU_SOURCE -O1 -o bare bare.c || { fail "bare.c does not build"; return; }
	begin bare || return
	attach bare 50 && wants bare '^main;spin ' && attach bare-again 50
	! grep -q ';run ' folded.txt || { fail "bare: samples of it"; cat folded.txt; }
	let_end bare 0 ''
}

# Code that is made at run time has the name that the program's jitdump gives.
made() {
	cat >made.c <<'END'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile long sink;
static __attribute__((noinline)) void spin(void) { long n = 100000; while (n--) sink += n * sink; }
int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
	static const uint8_t bytes[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t header[] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0, 0, 0};
	uint32_t record[] = {0, 56 + 13 + sizeof bytes, 0, 0, (uint32_t)getpid(), (uint32_t)getpid()};
	uint64_t numbers[] = {(uintptr_t)code, (uintptr_t)code, sizeof bytes, 1};
	char path[64];
	int fd;
	memcpy(code, bytes, sizeof bytes);
	snprintf(path, sizeof path, "jit-%d.dump", getpid());
	fd = open(path, O_RDWR | O_CREAT, 0644);
	write(fd, header, sizeof header);
	write(fd, record, sizeof record);
	write(fd, numbers, sizeof numbers);
	write(fd, "made by hand", 13);
	write(fd, bytes, sizeof bytes);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK))
		((void (*)(void (*)(void)))code)(spin);
	puts("0 failures");
}
END
	gcc -w -O1 -o made made.c || { fail "made.c does not build"; return; }
	begin made || return
	attach made 50 && wants made '^main;made by hand_\[fp\];spin \|^main_\[fp\];made by hand;spin '
	let_end made 0 ''
}

# In a namespace of process numbers, with its own /proc and with that of another one, whose numbers are not to be taken for threads.
namespaces() {
	local options child
	for options in "--mount-proc" ""; do
		# shellcheck disable=SC2086
		unshare -p --fork $options true 2>/dev/null || { echo "no namespaces here: not tested"; return; }
		rm -f flag out.txt spaces-*.wmk
		# shellcheck disable=SC2086
		unshare -p --fork $options ./threads workers "$dir/flag" >out.txt 2>err.txt &
		pids=($!)
		local i
		for ((i = 0; i < 3000; i++)); do
			grep -qs ready out.txt && break
			sleep 0.01
		done
		child=$(pgrep -P "${pids[0]}")
		patient timeout 200 "$waymark" attach -q --sample=4999 -o "$dir/spaces-%p.wmk" "$child" || fail "namespaces: attach"
		./tool samples spaces-1.wmk 100 || fail "namespaces: samples"
		patient timeout 200 "$waymark" attach -q --detach "$child" || fail "namespaces: detach"
		"$waymark" report --format folded --metric cpu spaces-1.wmk >folded.txt 2>&1
		wants namespaces '^\[thread\];worker;work;'
		touch flag
		wait "${pids[0]}"
		[ $? -eq 4 ] || fail "namespaces: status"
		printf 'ready\nworked\n0 failures\n' | cmp - out.txt || fail "namespaces: its output"
		pids=()
	done
}

# $1: what it is called. The rest: a command that starts the program, which sees the file flag under that name ("" : none is there).
begin_apart() {
	local name=$1 i
	shift
	rm -f flag out.txt err.txt root/flag
	"$@" >out.txt 2>err.txt &
	pids=($!)
	for ((i = 0; i < 3000; i++)); do
		grep -qs ready out.txt && break
		kill -0 "${pids[0]}" 2>/dev/null || { echo "$name: not permitted here: not tested: $(cat err.txt)"; pids=(); return 1; }
		sleep 0.01
	done
	pid=$(pgrep -P "${pids[0]}" -x 'work|threads' || echo "${pids[0]}")
}

# $1: its name. $2: where its root is. $3: the file that ends it.
sampled_apart() {
	local root=$2 i
	for i in 1 2; do
		patient timeout 200 "$waymark" attach -q --sample=4999 -o "/tmp/apart-$1-$$-$i.wmk" "$pid" || { fail "$1: attach"; return; }
		./tool samples "$root/tmp/apart-$1-$$-$i.wmk" 100 || fail "$1: samples"
		patient timeout 200 "$waymark" attach --detach "$pid" 2>said.txt || fail "$1: detach"
		grep -q "wrote /proc/$pid/root/tmp/apart-$1-$$-$i.wmk, in the file system of that process" said.txt &&
			grep -q ' samples$' said.txt || { fail "$1: says"; cat said.txt; }
		"$waymark" report --format folded --metric cpu --exe "$dir/work" "$root/tmp/apart-$1-$$-$i.wmk" >folded.txt 2>&1
		wants "$1" '^main;loop;choose;inner_a'
		rm -f "$root/tmp/apart-$1-$$-$i.wmk"
	done
	patient timeout 200 "$waymark" attach -q --encode "$pid" 2>said.txt && fail "$1: the agent is not refused"
	has said.txt 'in another file system, where walks alone work'
	patient timeout 200 "$waymark" attach -q -o here "$pid" 2>said.txt && fail "$1: a place that is not absolute"
	has said.txt 'needs an absolute place'
	patient timeout 200 "$waymark" attach -q -o /none/x.wmk "$pid" 2>said.txt && fail "$1: no place"
	has said.txt 'cannot write files to /none/x.wmk'
	[ -z "$(find "/proc/$pid/fd" -lname '*memfd*')" ] || fail "$1: the library's file is open"
	touch "$3"
	wait "${pids[0]}"
	[ $? -eq 9 ] || fail "$1: status"
	pids=()
	printf 'ready\nlooped\n0 failures\n' | cmp - out.txt || fail "$1: its output"
}

# Processes that see another file system: a root with nothing but the program and what it needs, as root, as a user of a namespace, without
# /proc; and our own root with something else where the library is.
# allocates_apart LABEL ROOT FLAG: each allocation, by walks that agree with those in full
allocates_apart() {
	local file="$2/tmp/apart-$1-$$.wmk" i n=0
	WAYMARK_HEAP=every-check patient timeout 200 "$waymark" attach -q --heap -o "/tmp/apart-$1-$$.wmk" "$pid" || { fail "$1: attach"; return; }
	for ((i = 0; i < 600 && n < 100; i++)); do
		n=$("$waymark" report --format=json "$file" 2>&1 | sed -n 's/.*"samples_checked": \([0-9]*\).*/\1/p')
		n=${n:-0}
	done
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "$1: detach"
	"$waymark" report --format=json "$file" >report.json 2>&1
	n=$(sed -n 's/.*"samples_checked": \([0-9]*\).*/\1/p' report.json)
	[ "${n:-0}" -ge 100 ] && [ "$n" = "$(sed -n 's/.*"samples_agreed": \([0-9]*\).*/\1/p' report.json)" ] || fail "$1: of ${n:-no} trails not all agree"
	"$waymark" report --format folded --metric allocations --exe "$dir/threads" "$file" >folded.txt 2>&1
	wants "$1" '^main;frees;\[malloc\] '
	rm -f "$file"
	touch "$3"
	wait "${pids[0]}"
	[ $? -eq 10 ] || fail "$1: status"
	pids=()
	printf 'ready\nfreed\n0 failures\n' | cmp - out.txt || fail "$1: its output"
}

roots() {
	mkdir -p root/lib64 root/lib/x86_64-linux-gnu root/proc root/tmp
	cp work threads root/ && ldd work threads | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "root$(dirname "$library")"
		cp "$library" "root$library"
	done
	local enters='mount -t proc proc root/proc && exec chroot root /work loop /flag'
	if begin_apart roots unshare --mount --pid --fork sh -c "$enters"; then
		sampled_apart roots "/proc/$pid/root" root/flag
	fi
	if begin_apart heap-root unshare --mount --pid --fork sh -c "${enters/work loop/threads frees}"; then
		allocates_apart heap-root "/proc/$pid/root" root/flag
	fi
	if begin_apart users unshare --user --map-root-user --mount --pid --fork sh -c "$enters"; then
		sampled_apart users "/proc/$pid/root" root/flag
	fi
	local hides="mount -t tmpfs none '${waymark%/*}/src/sampler' && mount -t tmpfs none '${waymark%/*}/src/agent'"
	if begin_apart hidden unshare --mount sh -c "$hides && exec ./work loop '$dir/flag'"; then
		sampled_apart hidden "" flag
	fi
	if begin_apart without-proc chroot root /work loop /flag; then
		patient timeout 200 "$waymark" attach -q "$pid" 2>said.txt && fail "roots: not refused"
		[ "$(wc -l <said.txt)" -eq 1 ] && grep -q 'runs in another file system, which has no /proc' said.txt || { fail "roots: says"; cat said.txt; }
		touch root/flag
		wait "${pids[0]}"
		[ $? -eq 9 ] || fail "roots: status"
		pids=()
	fi
}

# The agent and the sampler: one of them at a time.
both() {
	begin work loop || return
	patient timeout 200 "$waymark" attach -q -o "$dir/walk.wmk" "$pid" || fail "both: attach"
	patient timeout 200 "$waymark" attach -q -o "$dir/walk.wmk" "$pid" 2>said.txt && fail "both: twice"
	has said.txt "is attached already"
	if timeout 200 "$waymark" attach -q --encode -o "$dir/agent.wmk" "$pid" 2>said.txt; then
		fail "both: the agent beside the sampler"
	elif ! grep -q 'the agent is not there' said.txt; then
		has said.txt "is attached already"
		patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "both: detach"
		patient timeout 200 "$waymark" attach -q --encode -o "$dir/agent.wmk" "$pid" || fail "both: attach by --encode"
		patient timeout 200 "$waymark" attach -q -o "$dir/walk.wmk" "$pid" 2>said.txt && fail "both: the sampler beside the agent"
		has said.txt "is attached already"
	fi
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "both: detach"
	patient timeout 200 "$waymark" attach -q --detach "$pid" 2>said.txt && fail "both: nothing is there"
	has said.txt "is not attached"
	attach both 50
	let_end both 9 $'looped\n'
}

one() {
	case $1 in
	deep) works work deep 3 $'20001 frames\n' '^main;deep;recurse;recurse;recurse' ;;
	comparator) works work comparator 4 $'sorted\n' '^main;comparator;qsort.*;compare;leaf' ;;
	signals) works work signals 5 $'handled\n' '^main;signals;.*\[signal\];short_handler' 1500 ;; # it comes every 40 ms
	handler) works work handler 6 $'came back\n' '^main;.*\[signal\];long_handler;some_work' ;;
	jumps) works work jumps 7 $'landed\n' '^main;jumps;jump_from;jump_from.*;some_work' ;;
	coroutines) works work coroutines 8 $'switched\n' ';some_work' ;;
	loop) works work loop 9 $'looped\n' '^main;loop;choose' ;;
	throw) works throw throw 11 '' '^main;catcher.*;thrower.*;thrower' ;;
	threads)
		often waits 3 $'waited\n' '^main;waits;.*work;recurse'
		often workers 4 $'worked\n' '^\[thread\];worker;work;sorts;qsort.*;compare;leaf'
		often churn 5 $'churned\n' '^\[thread\];lives_shortly;work'
		often cancels 9 $'cancelled\n' ''
		often handlers 6 $'handled\n' '\[signal\];handler;leaf'
		often loaders 7 $'loaded\n' '^\[thread\];.*;work;recurse'
		;;
	read) waits read 0 0 $'x 0\n' ;;
	poll) waits poll 7 219 '' ;;
	sleep) waits sleep 230 219 '' ;;
	semaphore) waits semaphore 202 219 '' ;;
	first_thread | heap | heap_often | crowd | forks | execs | ends | bare | made | namespaces | roots | both) "$1" ;;
	*) fail "$1: no such program" ;;
	esac
}

[ $# -gt 0 ] || set -- deep comparator signals handler jumps coroutines loop throw threads read poll sleep semaphore first_thread heap heap_often crowd forks execs ends bare made namespaces roots both
for mode; do
	one "$mode"
done
finish
