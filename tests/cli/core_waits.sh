#!/bin/bash
# core_waits.sh BUILD - what threads wait for, who holds it, deadlocks; and the exceptions that ended a program or are handled.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

# said TEXT...: each an extended regular expression, of one line.
said() {
	for text; do
		grep -qE -- "$text" out.txt || fail "$label: no '$text' in: $(cat out.txt)"
	done
}

# is_blocked PID THREADS: all of them wait in the kernel. Who was woken runs, so nothing changes any more.
is_blocked() {
	local state
	[ "$(echo /proc/"$1"/task/*/syscall | wc -w)" = "$2" ] || return 1
	for state in /proc/"$1"/task/*/syscall; do
		[ "$(cut -d' ' -f1 <"$state")" = 202 ] || return 1
	done
}

for options in -O0 "-O1 -fno-plt" -O2 "-O2 -static"; do
	label="waits $options"
	# At -O2 with debug information of the C library, where it is installed: its own functions have names then.
	export WAYMARK_DEBUG_DIR=/none
	[ "$options" != -O2 ] || unset WAYMARK_DEBUG_DIR
	# shellcheck disable=SC2086 # a list of words
	"$compiler" cc --wm=trace $options -g -pthread "$here/core_waits.c" -o program || exit 1
	rm -f said waits.core
	mkfifo said
	./program >said &
	pid=$!
	disown $pid
	exec 3<said
	read -r _ <&3
	while kill -0 $pid && ! is_blocked $pid 6; do :; done
	expect 0 "$waymark" core -p $pid ./program
	cp out.txt live.txt
	DEBUGINFOD_URLS='' gdb -q -nx -batch -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -p $pid -ex 'generate-core-file waits.core' \
		-ex kill >gdb.txt 2>&1 </dev/null
	kill -KILL $pid 2>/dev/null
	exec 3<&-
	[ -s waits.core ] || { grep -q 'not permitted' gdb.txt && echo "SKIP: ptrace is not permitted" && exit 77; fail "no core"; }
	for way in core live; do
		[ $way = live ] && cp live.txt out.txt
		[ $way = core ] && expect 0 "$waymark" core ./program waits.core
		label="waits $options $way"
		[ "$options" = "-O2 -static" ] && [ $way = live ] && continue
		said 'waits for the mutex bank\.locks\[1\] at 0x[0-9a-f]*, held by thread [2-6] \([0-9]*\); deadlock: thread [2-6] waits for thread [2-6], which waits for thread [2-6]$' \
			'waits for the mutex bank\.locks\[0\] at 0x[0-9a-f]*, held by thread [2-6] \([0-9]*\); deadlock' \
			'waits for the condition variable .* at 0x' 'waits for the semaphore never at 0x' \
			'waits for the end of a thread, thread [2-6] \([0-9]*\)$' 'waits for the mutex .*, held by itself: deadlock$'
		[ "$options" != -O0 ] || said 'mutex \*mutex in again' 'condition variable queue->filled in take'
	done
	expect 0 "$waymark" core --format=json ./program waits.core
	schema_check out.txt
	# By what gdb reads: the owner of each lock is a thread whose own wait is for the other one.
	python3 - out.txt <<'EOF' || fail "$label: JSON"
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
waits = {t["tid"]: t["waits"] for t in threads if "waits" in t}
assert len(waits) == 6, waits
kinds = sorted(w["for"] for w in waits.values())
assert kinds == ["condition", "join", "mutex", "mutex", "mutex", "semaphore"], kinds
pairs = {t: w["owner"] for t, w in waits.items() if w["for"] == "mutex"}
assert all(pairs[pairs[t]] == t for t in pairs), pairs
assert [w["deadlock"] for w in waits.values()].count(True) == 3
EOF
done

label="read-write locks"
"$compiler" cc --wm=trace -O1 -g -pthread "$here/core_rwlocks.c" -o program || exit 1
./program &
pid=$!
disown $pid
while kill -0 $pid && ! is_blocked $pid 7; do :; done
expect 0 "$waymark" core -p $pid ./program
said "waits for the read-write lock cache at 0x[0-9a-f]*, held by thread 1 \($pid\)\$" \
	'waits for the read-write lock table at 0x[0-9a-f]*, held by 1 reader$' \
	'waits for the read-write lock pair\.locks\[[01]\] at 0x[0-9a-f]*, held by thread [45] \([0-9]*\); deadlock: thread [45] waits for thread [45], which' \
	'^what happened: deadlock: thread 4 waits for thread 5, which waits for thread 4$'
[ "$(grep -c 'waits for the read-write lock fair at 0x[0-9a-f]*, held by 1 reader$' out.txt)" = 2 ] || fail "$label: fair: $(grep fair out.txt)"
expect 0 "$waymark" core --format=json -p $pid ./program
[ "$(grep -c '"for": "rwlock", .*"readers": 1' out.txt)" = 3 ] || fail "$label: readers in JSON"
kill -KILL $pid

for options in -O0 "-O2 -static-libstdc++"; do
	# shellcheck disable=SC2086 # a list of words
	"$compiler" c++ --wm=trace $options -g "$here/core_waits.cpp" -o program || exit 1
	while read -r kind expected; do
		label="exception $kind $options"
		core_of thrown.core ./program "$kind" || exit 1
		expect 0 "$waymark" core ./program thrown.core
		if [ "$kind" = "done" ]; then
			! grep -q 'handles an exc\|was ended by' out.txt || fail "$label: one that is over: $(grep 'an exception' out.txt)"
		else
			said "^      $expected\$"
			[ "$kind" = handled ] || said '^what happened: exception .* that (nothing caught|left a function which lets none pass)'
		fi
	done <<'EOF'
range was ended by an exception that nothing may catch: std::runtime_error, what\(\) is "bad range"
own was ended by an exception that nothing may catch: own_error, what\(\) is "bad ownx{200,250}..."
silent was ended by an exception that nothing may catch: silent_error
error was ended by an exception that nothing may catch: std::system_error, what\(\) is "kill: No such process"
plain was ended by an exception that nothing may catch: plain_error
integer was ended by an exception that nothing may catch: int, -12
text was ended by an exception that nothing may catch: char const\*, only text
bad was ended by an exception that nothing may catch: std::bad_alloc, what\(\) is "std::bad_alloc"
noexcept was ended by an exception that nothing may catch: std::runtime_error, what\(\) is "bad range"
handled handles an exception: std::runtime_error, what\(\) is "bad range"
done
EOF
done
finish
