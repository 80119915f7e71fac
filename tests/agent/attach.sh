#!/bin/bash
# attach.sh BUILD SOURCES [MODE...] - `waymark attach` and `--detach` on programs that run: wherever they are found they go on, print and
# end as without, every sample agrees with the stack, and after --detach all code is as in the files.
set -u
sources=$(realpath "$2")
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/agent/attach_lib.sh
. "$sources/attach_lib.sh"
shift 2
options=() # more of them
heap_late='main;take_step;starts;[thread]' # where a thread stands that begins meanwhile

# attach LABEL SAMPLES LEAST [MOST]: in, so many samples, out; LEAST percent of those compared agree with the stack, and at most MOST percent
# have no context
attach() {
	attach_with "$1" "$2" --check --sample=9997 "${options[@]}" || return
	[ "$2" -eq 0 ] && return 0
	awk -v least="$3" -v most="${4:-10}" '/agrees? with the stack/ { ok = $3 > 0 && $3 >= $5 * least / 100 }
		/context unknown/ { known = $7 + 0 <= $3 * most / 100 } END { exit !(ok && known) }' said.txt ||
		{ fail "$1: samples that do not agree, have no context, or none"; cat said.txt err.txt; }
	folded "$1"
}

# let_end LABEL STATUS LINES: lets it end
let_end() {
	end_program "$@"
	grep -v '^waymark: context differs' err.txt && fail "$1: says that"
}

# works PROGRAM MODE STATUS LINES PATTERN [LEAST [MOST]] - working programs: twice in and out.
works() {
	begin "$1" "$2" || return
	attach "$2" 100 "${6:-100}" "${7:-10}" && attach "$2-again" 100 "${6:-100}" "${7:-10}"
	[ -z "$5" ] || wants "$2" "$5"
	let_end "$2" "$3" "$4"
}

# often MODE STATUS LINES PATTERN SAMPLES [MOST] - programs with threads: in and out many times, in the midst of whatever they do. Without SAMPLES
# contexts are not looked at.
often() {
	local i
	begin threads "$1" || return
	attach "$1" "$5" 100 "${6:-10}" && { [ "$5" -eq 0 ] || wants "$1" "$4"; }
	for i in 1 2 3 4 5 6; do
		[ $((i % 2)) -eq 0 ] && options=(--heap --encode)
		attach "$1-$i" 0 100 || break
		options=()
	done
	attach "$1-again" "$5" 100 "${6:-10}" && { [ "$5" -eq 0 ] || wants "$1" "$4"; }
	let_end "$1" "$2" "$3"
}

# Threads that are behind tail calls when the agent comes, and stay there: where they are has no context until another thread makes the
# same calls, and from then on the right one.
spins() {
	local label
	begin threads spins || return
	for label in spins spins-again; do
		attach "$label" 100 100 25 || break
		wants "$label" '^\[thread\];spins_nested;nest;nest;nest;nest;spin '
		wants "$label" '^\[thread\];spins_sorted;sort_and_spin;spin '
		wants "$label" '^\[thread\];spins_in_library;sort_in_library;qsort_r.*;spin_in_library '
	done
	let_end spins 11 $'spun\n'
}

# Twice, and once more where the agent has been without the heap client: what it found quiet then allocates.
heap() {
	local label lines=
	begin heap heap || return
	visit_heap heap-1 --heap --encode && check_heap heap-1
	visit_heap heap-2 --heap --check && check_heap heap-2
	for label in heap-1 heap-2; do lines+="before-$label"$'\n'"while-$label"$'\n'"after-$label"$'\n'; done
	let_end heap 0 "$lines"$'x\nend\n'
	lines=
	begin heap heap || return
	visit_heap heap-3 --encode
	visit_heap heap-4 --heap --encode && check_heap heap-4
	for label in heap-3 heap-4; do lines+="before-$label"$'\n'"while-$label"$'\n'"after-$label"$'\n'; done
	let_end heap 0 "$lines"$'x\nend\n'
}

# captured LABEL STEP: what captures.c has printed for that step
captured() {
	awk -v s="$2" '$0 == s { exit } NF == 1 { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }' out.txt >captured.txt
	[ -s captured.txt ] || fail "$1: $2: no captures"
}

# not_captured LABEL STEP
not_captured() {
	captured "$1" "$2"
	[ "$(cut -d' ' -f2 captured.txt | sort -u)" = wm1:not-instrumented ] || { fail "$1: $2: a context"; head -5 captured.txt; }
}

# well_captured LABEL STEP: tokens decode to the stack that the program keeps itself
well_captured() {
	captured "$1" "$2"
	"$waymark" decode --folded --wmk "$dir/$1.wmk" <captured.txt >decoded.txt 2>said.txt || { fail "$1: decode"; cat said.txt; }
	awk 'NF != 2 || $1 != $2 { print; bad = 1 } END { exit bad || !NR }' decoded.txt || fail "$1: $2: other contexts"
}

# seven LABEL: the events that it logs
seven() {
	"$waymark" report --format folded --metric seven:sum "$dir/$1.wmk" >folded.txt 2>said.txt || { fail "$1: report"; cat said.txt; }
	printf '%s 21\n' '[thread];worker;captures;logs' 'main;captures;logs' 'main;starts;[thread];shortly;captures;logs' |
		diff - folded.txt || fail "$1: events"
}

captures() {
	local kind label
	for kind in gcc\ -fPIE\ -pie gcc\ -fno-pie\ -no-pie clang-19\ -fPIE\ -pie; do
		command -v "${kind%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$kind -w -O2 -pthread -I "$sources/../../include" -o captures "$sources/attach/captures.c" || { fail "captures.c does not build"; return; }
		begin captures captures || return
		for label in captures-1 captures-2; do
			rm -f "$label.wmk"
			step "before-$label" && not_captured "$label" "before-$label"
			patient timeout 200 "$waymark" attach -q --encode -o "$dir/$label.wmk" "$pid" 2>said.txt || { fail "$label: attach"; cat said.txt; return; }
			step "while-$label" && well_captured "$label" "while-$label"
			step "kept-$label" && well_captured "$label" "kept-$label"
			patient timeout 200 "$waymark" attach -q --detach "$pid" 2>said.txt || { fail "$label: detach"; cat said.txt; return; }
			seven "$label"
			./tool text "$pid" || fail "$label: code is not as it was"
			step "kept-after-$label" && not_captured "$label" "kept-after-$label"
			step "after-$label" && not_captured "$label" "after-$label"
		done
		exec 9>&-
		wait "$pid" || fail "captures: exit status $?"
		pids=()
		grep -qx '0 failures' out.txt || fail "captures: failures"
	done
}

# Waiting programs: in and out while it waits, and it goes on waiting: in the call NUMBER, made again as AGAIN.
waits() {
	begin work "$1" || return
	is_in "$2" || fail "$1: does not wait"
	attach "$1" 0 100
	is_in "$3" || fail "$1: does not wait any more"
	[ "$1" = sleep ] || attach "$1-again" 0 100
	let_end "$1" 10 "$4"
}

# refused LABEL PATTERN COMMAND...: for that reason, and not since processors are busy
refused() {
	local label=$1 pattern=$2
	shift 2
	for tries in 1 2 3 4 5 6 7 8; do
		timeout 200 "$@" 2>said.txt && fail "$label: not refused"
		grep -q "$pattern" said.txt || ! grep -q "do not all come to a stop within" said.txt || continue
		break
	done
	[ "$(wc -l <said.txt)" -eq 1 ] && grep -q "$pattern" said.txt || { fail "$label: says"; cat said.txt; }
}

# other NAME COMMAND...: starts it, its number is in $pid, and waits for its line "ready"
other() {
	local i name=$1
	shift
	rm -f other.txt
	"$@" >other.txt 2>&1 &
	pid=$!
	pids+=("$pid")
	for ((i = 0; i < 3000; i++)); do
		grep -qs ready other.txt && return 0
		sleep 0.01
	done
	fail "$name: never ready"
}

end_other() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pids=()
}

refusals() {
	local build_line="gcc -w -O1 -D_GNU_SOURCE"
	cat >refused.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>
static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
}
static char stack[65536];
static int wait_bare(void *unused)
{
	for (;;)
		__asm__ volatile("syscall" : : "a"(34) : "rcx", "r11", "memory"); /* pause */
}
int main(int argc, char **argv)
{
	pthread_t thread;
	if (strcmp(argv[1], "threads") == 0)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	if (strcmp(argv[1], "bare") == 0)
		clone(wait_bare, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL);
	if (strcmp(argv[1], "seccomp") == 0) {
		struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
		struct sock_fprog program = {1, &allow};
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	}
	if (strcmp(argv[1], "ignores") == 0)
		signal(SIGSEGV, SIG_IGN);
	puts("ready");
	fflush(stdout);
	wait_for_ever(NULL);
}
END
	$build_line -o refused refused.c -lpthread && $build_line -static -o static refused.c -lpthread ||
		{ fail "refused.c does not build"; return; }
	other threads ./refused threads
	refused "not attached" "is not attached" "$waymark" attach --detach "$pid"
	end_other
	other bare ./refused bare
	refused bare "its C library has not made" "$waymark" attach --encode "$pid"
	refused bare "its C library has not made" "$waymark" attach --heap "$pid"
	end_other
	other static ./static plain
	refused static "linked statically" "$waymark" attach "$pid"
	end_other
	other ignores ./refused ignores
	refused ignores "ignores SIGSEGV" "$waymark" attach "$pid"
	end_other
	printf '%s\n' '#include <stddef.h>' 'void *malloc(size_t n) { static char all[1 << 20]; static size_t used;' \
		'	char *p = all + used; used += (n + 15) & ~15ul; return p; }' 'void free(void *p) { }' >allocator.c
	$build_line -o allocator refused.c allocator.c -lpthread || { fail "allocator.c does not build"; return; }
	other allocator ./allocator plain
	refused allocator "has an allocator in the program itself" "$waymark" attach --heap --encode "$pid"
	refused allocator "has an allocator in the program itself" "$waymark" attach --heap "$pid"
	patient timeout 200 "$waymark" attach -q --encode -o "$dir/allocator.wmk" "$pid" || fail "attach without the heap client"
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "detach"
	end_other
	other seccomp ./refused seccomp
	refused seccomp "has a seccomp filter" "$waymark" attach "$pid"
	end_other
	other run "$waymark" run -q --sample ./refused plain
	refused "sampled" "runs under .waymark run." "$waymark" attach "$(pgrep -P "$pid")"
	kill -9 "$(pgrep -P "$pid")"
	wait "$pid" 2>/dev/null
	other run "$waymark" run -q --sample --encode ./refused plain
	refused "under run" "runs under .waymark run." "$waymark" attach "$(pgrep -P "$pid")"
	kill -9 "$(pgrep -P "$pid")"
	wait "$pid" 2>/dev/null
	pids=()
	other plain ./refused plain
	refused "place" "cannot write files" "$waymark" attach -o /proc/none/x.wmk "$pid"
	patient timeout 200 "$waymark" attach -q --encode -o "$dir/refused.wmk" "$pid" || fail "attach"
	refused twice "is attached already" "$waymark" attach -q --encode -o "$dir/refused2.wmk" "$pid"
	patient timeout 200 "$waymark" attach -q --detach "$pid" || fail "detach"
	./tool text "$pid" || fail "refusals: code is not as it was"
	end_other
	refused gone "no such process" "$waymark" attach "$pid"
}

one() {
	case $1 in
	deep) works work deep 3 $'20001 frames\n' '^main;deep;recurse;recurse;recurse' ;;
	comparator) works work comparator 4 $'sorted\n' '^main;comparator;qsort.*;compare;leaf' ;;
	signals) works work signals 5 $'handled\n' '^main;signals;.*\[signal\];short_handler' ;;
	handler) works work handler 6 $'came back\n' '^\[signal\];long_handler;some_work' ;;
	jumps) works work jumps 7 $'landed\n' '^main;jumps;jump_from;jump_from.*;some_work' ;;
	# Some samples are in the midst of a switch of stacks.
	coroutines) works work coroutines 8 $'switched\n' ';some_work' 80 ;;
	tails) works work tails 12 $'back\n' '^main;tails;begin_chain;middle_of_chain;last_of_chain;' ;;
	loop) works work loop 9 $'looped\n' '^main;loop;choose' ;;
	# While the unwinder moves the stack pointer there is no context, for how much of the samples depends on the timers.
	throw) works throw throw 11 '' '^main;catcher.*;thrower.*;thrower' 100 25 ;;
	threads)
		often waits 3 $'waited\n' '^main;waits;.*work;recurse' 100
		often workers 4 $'worked\n' '^\[thread\];worker;work;sorts;qsort.*;compare;leaf' 100
		often churn 5 $'churned\n' '^\[thread\];makes_threads;.*\[thread\];.*lives_shortly;work' 20
		often cancels 9 $'cancelled\n' '' 0
		often handlers 6 $'handled\n' '^\[signal\];handler;leaf' 100
		often loaders 7 $'loaded\n' '^\[thread\];.*;work;' 100 25 # its threads are in the loader most of the time
		;;
	spins) spins ;;
	heap) heap ;;
	captures) captures ;;
	frees)
		for _ in 1 2 3 4 5 6; do
			begin threads frees || return
			attach frees 0 100
			let_end frees 10 $'freed\n'
		done
		;;
	holds)
		begin threads holds || return
		refused holds "the loader is at work" "$waymark" attach --encode "$pid"
		let_end holds 8 $'held\n'
		;;
	read) waits read 0 0 $'x 0\n' ;;
	poll) waits poll 7 219 '' ;;
	select) waits select 270 270 '' ;;
	ppoll) waits ppoll 271 271 '' ;;
	sleep) waits sleep 230 219 '' ;;
	semaphore) waits semaphore 202 219 '' ;;
	refusals) refusals ;;
	*) fail "$1: no such program" ;;
	esac
}

[ $# -gt 0 ] ||
	set -- deep comparator signals handler jumps coroutines tails loop throw threads spins heap captures frees holds read poll select ppoll sleep semaphore refusals
for mode; do
	one "$mode"
done
finish
