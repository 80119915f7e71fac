#!/bin/bash
# every.sh BUILD SOURCES - waymark run --heap: each allocation is in the chain of functions that the program itself knows, whatever their frames
# are, in threads, handlers, children, coroutines and libraries that come and go; trails agree with walks in full, in programs of Debian's, too.
set -u
build=$1 sources=$2
waymark=$build/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-every.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_HEAP WAYMARK_SAMPLE LD_PRELOAD
failures=0 checked=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# checked COMMAND...: its allocations by trails and by walks in full.
checked() {
	WAYMARK_HEAP=every-check WAYMARK_OUT=$dir/checked-%p.wmk LD_PRELOAD=$build/src/sampler/libwaymark-sample.so:$build/src/runtime/libwaymark-heap.so \
		WAYMARK_SECCOMP=$(sed -n 's/^Seccomp_filters:\t//p' /proc/self/status) "$@"
}

# number NAME: the sum over the recordings.
number() {
	"$waymark" report --format=json checked-*.wmk 2>/dev/null | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" | awk '{ s += $1 } END { print s + 0 }'
}

# agree WHAT LEAST: at least so many trails, and all of them agree.
agree() {
	local trails agreed
	trails=$(number samples_checked) agreed=$(number samples_agreed)
	[ "$trails" -ge "$2" ] && [ "$trails" = "$agreed" ] || fail "$1: of $trails trails $agreed agree"
	checked=$((checked + trails))
	rm -f checked-*.wmk
}

# The outermost frames of a coroutine are no function's; what raise calls differs.
chains() {
	"$waymark" report --format=folded --metric="$1" "${@:2}" 2>notes.txt |
		sed -E 's/^.*;other;/other;/; s/;(gsignal|raise);[^[]*\[signal\]/;[signal]/' | grep ';leaf;' |
		awk '{ c = $NF; sub(/ [0-9]+$/, ""); n[$0] += c } END { for (k in n) print k, n[k] }' | LC_ALL=C sort
}

told() { # COLUMN
	awk -v column="$1" '{ c = $column; sub(/^[0-9]+ [0-9]+ /, ""); n[$0] += c } END { for (k in n) print k, n[k] }' told.txt | LC_ALL=C sort
}

cat >visit.c <<'END'
void clear(char *room, int size);
void NAME(void (*go)(int), int left) { char room[ROOM]; clear(room, ROOM); go(left); __asm__ volatile("" : : "r"(room) : "memory"); }
END
found=
for cc in gcc clang-19; do
	command -v $cc >/dev/null || continue
	found=yes
	$cc -O1 -fno-stack-protector -shared -fPIC -DNAME=visit_a -DROOM=24 -o a.so visit.c && $cc -O1 -fno-stack-protector -shared -fPIC -DNAME=visit_b -DROOM=72 -o b.so visit.c ||
		exit 1
	for options in -O0 -O2 '-O2 -fno-omit-frame-pointer'; do
		# shellcheck disable=SC2086
		$cc -w $options -fno-builtin -fno-optimize-sibling-calls -rdynamic -pthread -o every "$sources/every.c" -ldl || exit 1
		"$waymark" run -q --heap -o run.wmk ./every 7 ./a.so ./b.so >told.txt || fail "$cc $options: status $?"
		for metric in 'allocations 1' 'bytes 2'; do
			told "${metric#* }" >want.txt
			chains "${metric% *}" run*.wmk >got.txt
			cmp -s want.txt got.txt || { fail "$cc $options: $metric"; diff want.txt got.txt | head -n 6; }
		done
		rm -f run*.wmk
	done
	checked ./every 8 ./a.so ./b.so >told.txt || fail "$cc: status $?"
	agree "$cc" 4000
done
[ -n "$found" ] || { echo "neither gcc nor clang-19 is there"; exit 77; }

# try LEAST COMMAND...
try() {
	local least=$1
	shift
	command -v "$1" >/dev/null || return 0
	checked "$@" >out.txt 2>err.txt || fail "$*: status $?, $(cat err.txt)"
	agree "$*" "$least"
}
try 20000 perl -e 'sub f { my $n = shift; $h{$n} = [$n, {a => "$n"}]; delete $h{$n - 9}; f($n - 1) if $n % 20 } f($_) for 1 .. 900'
try 1000 python3 -S -c 'import json; print(len(json.dumps([json.loads("[1,{\"a\":[2]}]") for i in range(900)])))'
try 1000 sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into t select i, hex(i) from n; select count(*), b from t group by b limit 3;'
try 1000 bash -c 'f() { local a=$1; [ "$a" -eq 0 ] || f $((a - 1)); }; f 40; for i in {1..40}; do a[i]=${i}x; done'
[ $failures -eq 0 ] || exit 1
echo "$checked trails agree: passed"
