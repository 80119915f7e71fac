#!/bin/bash
# attach_safe.sh BUILD SOURCES [TIMES [MODE...]] - `waymark attach` and `--detach` do no harm: killed at any instant they leave the process
# alive and right, they end when it ends, they give up where it cannot be stopped, and system calls do not see them. TIMES: how many kills
# and ends of each kind there are, 200 by command. HOW=--encode: by the agent, HOW= by the sampler.
set -u
sources=$(realpath "$2") times=${3:-12} how=${HOW---encode}
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
shift 2
[ $# -eq 0 ] || shift
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
needs gcc

gcc -w -O2 -I "$sources/../../include" -o tool "$sources/attach/tool.c" || exit 1
for program in threads strange finds calls; do
	gcc -w -O2 -pthread -o $program "$sources/attach/$program.c" -ldl || exit 1
done
gcc -w -O2 -shared -fPIC -o dies.so "$sources/attach/dies.c" -ldl || exit 1

sleep 100 &
pids=($!)
./tool can $! || { echo "processes cannot be traced here"; exit 77; }
kill -9 $! && wait $! 2>/dev/null
pids=()

# begin OUTPUT COMMAND...: runs it until it is ready; its number is in $pid
begin() {
	local i output=$1
	shift
	rm -f "$output" flag
	"$@" >"$output" 2>&1 &
	pid=$!
	pids+=("$pid")
	for ((i = 0; i < 3000; i++)); do
		grep -qs ready "$output" && return 0
		sleep 0.01
	done
	fail "$*: never ready"
	return 1
}

end() {
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pids=()
}

# Both without a message, at most so long as they may take on a loaded machine.
with=() # variables for it
attach() {
	patient timeout 100 env ${with[@]+"${with[@]}"} "$waymark" attach -q ${how:+"$how"} --sample=997 -o "$dir/" "$pid"
}

detach() {
	patient timeout 100 env ${with[@]+"${with[@]}"} "$waymark" attach -q --detach "$pid"
}

# steps attach|detach [VARIABLE]: how many steps it makes
steps() {
	local with=("DIES_COUNT=$dir/count" "LD_PRELOAD=$dir/dies.so" ${2+"$2"})
	"$1" || fail "steps of $1"
	cat "$dir/count"
}

# Whatever the killed command has left, another one finds either the agent or none.
is_usable() {
	detach 2>said.txt || grep -q "is not attached" said.txt || { fail "$1: detach afterwards"; cat said.txt; }
}

# killed attach|detach COUNT: at that many instants
killed() {
	local i count
	[ "$1" = attach ] || attach || fail "attach"
	count=$(steps "$1")
	[ "$1" = detach ] || detach || fail "detach"
	for ((i = 0; i < $2; i++)); do
		[ "$1" = attach ] || attach 2>said.txt || { fail "attach before"; cat said.txt; }
		with=("DIES_AFTER=$((count * i / $2))" "LD_PRELOAD=$dir/dies.so")
		"$1" 2>/dev/null
		with=()
		kill -0 "$pid" || { fail "$1, killed at step $((count * i / $2)) of $count: the process has ended"; return 1; }
		is_usable "$1, killed at step $((count * i / $2)) of $count"
	done
}

kills() {
	begin out.txt ./threads workers "$dir/flag" || return
	killed attach "$times" && killed detach "$times" && { ./tool text "$pid" || fail "kills: code is not as it was"; }
	touch flag
	wait "$pid"
	[ $? -eq 4 ] || fail "kills: exit status"
	printf 'ready\nworked\n0 failures\n' | cmp - out.txt || { fail "kills: its output"; cat out.txt; }
	pids=()
}

# every_of attach|detach: killed before each of its steps, or at so many of them, and then a signal comes to all threads
every_of() {
	local i at count
	[ "$1" = attach ] || attach || fail "every: attach"
	count=$(steps "$1" DIES_EVERY=12)
	[ "$1" = detach ] || detach || fail "every: detach"
	for ((i = 0; i < times && i < count; i++)); do
		at=$((times < count ? count * i / times : i))
		[ "$1" = attach ] || attach 2>said.txt || { fail "every: attach before"; cat said.txt; }
		with=("DIES_AFTER=$at" DIES_EVERY=12 "LD_PRELOAD=$dir/dies.so")
		"$1" 2>/dev/null
		with=()
		is_usable "$1, killed before step $at of $count"
		kill -0 "$pid" || { fail "$1, killed before step $at of $count: the process has ended"; return 1; }
	done
}

every() {
	begin out.txt ./threads signalled "$dir/flag" || return
	every_of attach && every_of detach && { ./tool text "$pid" || fail "every: code is not as it was"; }
	touch flag
	wait "$pid"
	[ $? -eq 4 ] || fail "every: exit status"
	printf 'ready\nworked\n0 failures\n' | cmp - out.txt || { fail "every: its output"; cat out.txt; }
	pids=()
}

# Where a recording has the number of its samples.
samples_at() {
	printf '%s\n' '#include <stddef.h>' '#include <stdio.h>' '#include "waymark/wmk.h"' \
		'int main(void) { printf("%zu", offsetof(struct wmk_header, samples)); }' |
		gcc -w -I "$sources/../../include" -x c -o samples_at - && ./samples_at
}

# A detach that is killed while a thread is in its way: the agent goes on and records. Where the call had begun it is out.
leaves() {
	local file=$dir/leaves.wmk n
	begin out.txt ./threads handlers "$dir/flag" || return
	for n in 30 40 50 60 80 100; do
		patient timeout 100 "$waymark" attach -q ${how:+"$how"} --sample=997 -o "$file" "$pid" 2>said.txt || grep -q "attached already" said.txt ||
			{ fail "leaves: attach"; cat said.txt; }
		./tool samples "$file" 20 || fail "leaves: samples before"
		with=("DIES_AFTER=$n" "LD_PRELOAD=$dir/dies.so")
		detach 2>/dev/null
		with=()
		attach 2>said.txt || ./tool samples "$file" $(($(od -An -tu8 -j "$(samples_at)" -N 8 "$file") + 20)) ||
			fail "leaves: no samples any more"
		detach || fail "leaves: detach"
	done
	end
}

# ended LABEL STATUS: it has ended, and nothing waits for ever
ended() {
	[ "$2" -ne 124 ] || fail "$1: hangs when the process ends"
	[ "$2" -eq 0 ] || grep -qE "has ended|no such process|first thread has" said.txt || { fail "$1: says"; cat said.txt; }
}

# The process is killed at an instant of attach, or of detach, or exits while threads are being stopped.
exits() {
	local i count what
	begin out.txt ./threads workers "$dir/flag" || return
	count=$(steps attach)
	end
	for ((i = 0; i < times; i++)); do
		for what in attach detach; do
			begin out.txt ./threads workers "$dir/flag" || return
			[ $what = attach ] || attach || fail "exits: attach"
			with=("DIES_TARGET=$pid" "DIES_AFTER=$((count * i / times))" "LD_PRELOAD=$dir/dies.so")
			$what 2>said.txt
			ended "$what, the process killed at step $((count * i / times))" $?
			with=()
			end
		done
		begin out.txt ./strange exits $((i * 60000 / times)) || return
		attach 2>said.txt
		ended "attach, exit after $((i * 60000 / times)) us" $?
		detach 2>said.txt
		ended "detach, exit after $((i * 60000 / times)) us" $?
		wait "$pid"
		[ $? -eq 3 ] || fail "exits: the program's status"
		pids=()
	done
}

# refused LABEL PATTERN: attach is, in one line
refused() {
	expected=$2 attach 2>said.txt && fail "$1: not refused"
	[ "$(wc -l <said.txt)" -eq 1 ] && grep -q "$2" said.txt || { fail "$1: says"; cat said.txt; }
	kill -0 "$pid" || fail "$1: the process has ended"
}

refusals() {
	begin out.txt ./strange leaderless x && refused leaderless "first thread has"
	end
	begin out.txt ./strange jumps x || return
	if [ -n "$how" ]; then
		refused jumps "code without unwind tables"
	else
		attach || fail "jumps: attach"
		detach || fail "jumps: detach"
	fi
	end
	echo 'int jvm;' >jvm.c
	gcc -shared -o libjvm.so jvm.c && gcc -w -O2 -pthread -o java "$sources/attach/strange.c" -Wl,--no-as-needed -Wl,-rpath,"$dir" ./libjvm.so ||
		fail "libjvm.so does not build"
	begin out.txt ./java vforks x && refused java "virtual machine"
	end
}

# While a thread waits in vfork attach gives up; then the process is as it was, and attach works as soon as it goes on.
vforks() {
	begin out.txt ./strange vforks "$dir/flag" || return
	refused vforks "waits in the kernel"
	touch flag
	attach || fail "vforks: attach"
	detach || fail "vforks: detach"
	./tool text "$pid" || fail "vforks: code is not as it was"
	end
}

# There is room for the agent's code and stacks, and its time does not grow with the square of the threads.
many() {
	begin out.txt ./strange many x || return
	for _ in 1 2; do
		attach || fail "many: attach"
		./tool samples "$dir/waymark-strange-$pid.wmk" 5 || fail "many: samples"
		detach || fail "many: detach"
		./tool text "$pid" || fail "many: code is not as it was"
	done
	end
}

# Threads that are in a stub nearly always.
busy() {
	local i
	begin out.txt ./strange busy "$dir/flag" || return
	for i in 1 2 3; do
		attach || fail "busy: attach"
		./tool samples "$dir/waymark-strange-$pid.wmk" 20 || fail "busy: samples"
		detach || fail "busy: detach"
		./tool text "$pid" || fail "busy: code is not as it was"
	done
	touch flag
	wait "$pid" || fail "busy: exit status"
	printf 'ready\nend\n' | cmp - out.txt || { fail "busy: its output"; cat out.txt; }
	pids=()
}

# A stack that ends where makecontext has begun it.
inside() {
	begin out.txt ./strange inside x || return
	attach || fail "inside: attach"
	./tool samples "$dir/waymark-strange-$pid.wmk" 5 || fail "inside: samples"
	detach || fail "inside: detach"
	end
}

# A thread that the agent's signals do not reach: they are gone with the agent.
deaf() {
	local i
	begin out.txt ./strange deaf "$dir/flag" || return
	attach || fail "deaf: attach"
	for ((i = 0; i < 6000; i++)); do # until signal 33 has been sent to it
		grep -qE '^SigPnd:\s*[0-9a-f]{7}1' /proc/"$pid"/task/*/status && break
		sleep 0.01
	done
	[ $i -lt 6000 ] || fail "deaf: no signal was sent"
	detach || fail "deaf: detach"
	touch flag
	wait "$pid" || fail "deaf: exit status"
	printf 'ready\nend\n' | cmp - out.txt || { fail "deaf: its output"; cat out.txt; }
	pids=()
}

# A handler from before the agent returns, and its stack is unmapped.
departs() {
	begin out.txt ./strange departs "$dir/flag" || return
	attach || fail "departs: attach"
	touch flag
	wait "$pid" || fail "departs: exit status $?"
	printf 'ready\nend\n' | cmp - out.txt || { fail "departs: its output"; cat out.txt; }
	pids=()
}

# Threads that come to the agent all the time.
finds() {
	begin out.txt ./finds "$dir/flag" || return
	attach || fail "finds: attach"
	detach || fail "finds: detach"
	./tool text "$pid" || fail "finds: code is not as it was"
	touch flag
	wait "$pid" || fail "finds: exit status"
	printf 'ready\nend\n' | cmp - out.txt || { fail "finds: its output"; cat out.txt; }
	pids=()
}

calls() {
	local i
	printf '%s\n' 'static int sink;' '__attribute__((noinline)) static void leaf(int n) { sink += n; }' \
		'void plugin_run(void) { leaf(1); leaf(2); sink++; }' >plugin.c
	gcc -O1 -shared -fPIC -o plugin.so plugin.c || { fail "plugin.c does not build"; return; }
	begin out.txt ./calls "$dir/flag" ./plugin.so || return
	for i in 1 2 3; do
		attach || fail "calls: attach"
		sleep 0.5 # the agent stops the threads meanwhile
		detach || fail "calls: detach"
	done
	touch flag
	wait "$pid" || fail "calls: exit status"
	printf 'ready\nend\n' | cmp - out.txt || { fail "calls: under attach"; cat out.txt; }
	pids=()
	rm -f flag
	(sleep 1.5 && touch flag) &
	timeout 100 "$waymark" run --events -q -o "$dir/" ./calls "$dir/flag" ./plugin.so >out.txt || fail "calls: exit status under run"
	printf 'ready\nend\n' | cmp - out.txt || { fail "calls: under run"; cat out.txt; }
}

[ $# -gt 0 ] || set -- kills every leaves exits refusals vforks many inside busy deaf departs finds calls
for mode; do
	"$mode"
done
finish
