#!/bin/bash
# tasks.sh BUILD SOURCE-DIR JDK - the programs of examples/tasks: how often each context was there is what the programs do. JDK is empty where
# there is no agent for Java.
set -u
build=$1 source=$2 jdk=$3 waymark=$1/waymark failures=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-tasks.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# shows WHAT METRIC OPTION...: the report has the lines of wanted.txt, of what tasks do
shows() {
	local what=$1 metric=$2
	shift 2
	"$waymark" report --format=folded --metric "$metric" "$@" run.wmk 2>err.txt | grep "$pattern" | LC_ALL=C sort >found.txt
	diff wanted.txt found.txt || fail "$what"
}

wanted() {
	printf '%s\n' "$@" | LC_ALL=C sort >wanted.txt
}

# By words, by walks, and by the agent; a plain compiler and waymark cc.
pool() {
	local what=$1
	shift
	rm -f run.wmk
	"$waymark" run -q "$@" -o "$dir/run.wmk" ./pool || fail "$what: status $?"
	pattern='uses;'
	wanted 'main;serve;submit;[task];worker;parse;uses;[malloc] 20' 'main;refresh;submit;[task];worker;store;uses;[malloc] 5' \
		'main;serve;submit;[task];worker;parse;submit;[task];worker;store;uses;[malloc] 20'
	shows "$what" allocations
	wanted 'main;[thread];worker;parse;uses;[malloc] 20' 'main;[thread];worker;store;uses;[malloc] 25'
	shows "$what, fold" allocations --tasks=fold
}

"$waymark" cc -O1 -g "$source/examples/tasks/pool.c" -o pool || fail "waymark cc pool.c"
pool 'waymark cc' --heap
clang-19 -O0 -g -pthread -I "$source/include" "$source/examples/tasks/pool.c" -o pool || fail "clang pool.c"
pool 'walks' --heap
[ -e "$build/src/agent/libwaymark-agent.so" ] && pool 'agent' --heap --encode

if echo '#include <event2/event.h>' | clang-19 -E - >/dev/null 2>&1; then
	"$waymark" cc -O1 -g "$source/examples/tasks/loop.c" -levent_core -o loop || fail "waymark cc loop.c"
	rm -f run.wmk
	"$waymark" run -q --heap -o "$dir/run.wmk" ./loop || fail "loop: status $?"
	pattern='reply;'
	wanted 'main;serve;ask;[task];called;reply;[malloc] 7' 'main;ask;[task];called;tick;reply;[malloc] 1' \
		'main;ask;[task];called;tick;ask;[task];called;tick;reply;[malloc] 8'
	shows loop allocations
fi

if [ -n "$jdk" ]; then
	"$jdk/bin/javac" -J-XX:TieredStopAtLevel=1 -d . -cp "$build/src/jvm/waymark-jvm.jar" "$source/examples/tasks/Pool.java" || fail "javac"
	pattern='Pool.parse'
	for how in --contention ''; do
		rm -f run.wmk
		# shellcheck disable=SC2086
		"$waymark" run -q $how -o "$dir/run.wmk" "$jdk/bin/java" -cp . Pool || fail "java $how: status $?"
		wanted 'Pool.main;Pool.serve;Pool.submit;[task];Pool.parse 20' 'Pool.main;Pool.refresh;Pool.submit;[task];Pool.parse 5'
		shows "java $how" parsed
		[ "$("$waymark" report --format=folded --metric parsed --tasks=fold run.wmk | awk '{ n += $NF } END { print n }')" = 25 ] || fail "java $how, fold"
	done
fi
[ $failures -eq 0 ]
