#!/bin/sh
# merge.sh BUILD - waymark merge: sums are those of the recordings read together, whatever the order; duplicates, damage and
# places that cannot be written get one line and leave nothing behind.
. "$(dirname "$0")/lib.sh"

cat >paths.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int way(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3)
			sum++;
		else if (i % 5)
			sum += 2;
	}
	return sum;
}

static void leave(int how)
{
	if (how == 2)
		raise(SIGKILL);
	if (how == 1)
		exit(0);
}

static int forks(int n)
{
	int status = 0;

	if (fork() == 0)
		leave(way(n) > 3 ? 1 : 2);
	wait(&status);
	return way(n);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	if (argc > 2)
		forks(n);
	leave(n == 7 ? 2 : n % 2);
	return way(n) < 0;
}
END
"$waymark" cc -O1 -g --wm=paths paths.c -o prog || exit 1
for n in 1 2 3 4; do
	WAYMARK_OUT=$tmp/run-$n.wmk ./prog $n || fail "prog $n"
done
WAYMARK_OUT=$tmp/killed.wmk sh -c './prog 7; exit 0' 2>/dev/null
for n in 2 9; do
	mkdir forked-$n
	WAYMARK_OUT=$tmp/forked-$n/ ./prog $n fork || fail "prog $n fork"
done

# numbers FILE...: everything that the reader has of them but their names.
numbers() {
	"$waymark" paths --format=lcov "$@" >lcov.txt 2>err.txt || fail "paths --format=lcov $*"
	"$waymark" paths --top all "$@" >text.txt 2>err.txt || fail "paths $*"
	cat lcov.txt
	grep -vE '\.wmk: ' text.txt | sed '/./,$!d'
}

# same WANT GOT
same() {
	cmp -s "$1" "$2" || fail "$2 is not $1: $(diff "$1" "$2" | head -n 5)"
}

all="run-1.wmk run-2.wmk run-3.wmk run-4.wmk killed.wmk $(echo forked-*/*.wmk)"
numbers $all >want.txt
grep -q '^LF:' want.txt || fail "no lines are counted: $(head -n 5 want.txt)"
grep -qi 'unfinished' want.txt || fail "nothing is unfinished: $(head -n 20 want.txt)"
expect 0 "$waymark" merge -o all.wmk $all
[ ! -s err.txt ] || fail "merge warns: $(cat err.txt)"
numbers all.wmk >got.txt
same want.txt got.txt
expect 0 "$waymark" merge -o one.wmk forked-2/*.wmk run-3.wmk
expect 0 "$waymark" merge -o two.wmk run-1.wmk one.wmk run-4.wmk forked-9/*.wmk
expect 0 "$waymark" merge --output=two.wmk killed.wmk two.wmk run-2.wmk
numbers two.wmk >got.txt
same want.txt got.txt
expect 0 "$waymark" merge -o one.wmk run-1.wmk
"$waymark" merge -o - run-1.wmk | cmp -s - one.wmk || fail "merge -o - is not merge -o one.wmk"

# Another build of the program stays apart.
"$waymark" cc -O1 -g --wm=paths -DOTHER -fno-inline paths.c -Wl,--build-id=sha1 -o other || exit 1
WAYMARK_OUT=$tmp/other.wmk ./other 4 || fail "other 4"
numbers run-4.wmk other.wmk >want.txt
expect 0 "$waymark" merge -o both.wmk run-4.wmk other.wmk
numbers both.wmk >got.txt
same want.txt got.txt

# Refused: one line, and what is there stays.
cp all.wmk before.wmk
refused 1 "run-3.wmk: run " "$waymark" merge -o all.wmk run-1.wmk run-3.wmk run-2.wmk run-3.wmk
refused 1 "is in all.wmk already: it would count twice" "$waymark" merge -o all.wmk all.wmk run-2.wmk
refused 1 "nosuch.wmk: No such file" "$waymark" merge -o all.wmk run-1.wmk nosuch.wmk
echo text >text.wmk
refused 1 "text.wmk: offset 0x0: this is no .wmk file" "$waymark" merge -o all.wmk run-1.wmk text.wmk
refused 1 "nosuch/out.wmk: cannot be written" "$waymark" merge -o nosuch/out.wmk run-1.wmk
refused 1 "forked-2: is a directory" "$waymark" merge -o forked-2 run-1.wmk
[ ! -c /dev/full ] || refused 1 "/dev/full: cannot be written" "$waymark" merge -o /dev/full run-1.wmk
cmp -s all.wmk before.wmk || fail "all.wmk was changed"
for file in *.wmk.??????; do
	[ ! -e "$file" ] || fail "left behind: $file"
done

# Cut off: what is there is merged, with a warning.
head -c $(($(stat -c %s run-1.wmk) - 5000)) run-1.wmk >cut.wmk
expect 0 "$waymark" merge -o some.wmk run-2.wmk cut.wmk
[ "$(wc -l <err.txt)" -eq 1 ] || fail "a cut file: $(cat err.txt)"
has err.txt "cut.wmk: truncated"

# alike WHAT METRIC... : of the files in $tmp/WHAT and of WHAT.wmk, which they were merged to, reports have the same numbers in each context.
alike() {
	what=$1
	shift
	for metric; do
		expect 0 "$waymark" report --format=folded --metric="$metric" "$what"
		sort out.txt >want.txt
		expect 0 "$waymark" report --format=folded --metric="$metric" "$what.wmk"
		sort out.txt | cmp -s - want.txt || fail "$what: $metric: $(sort out.txt | diff - want.txt | head -n 3)"
		[ -s want.txt ] || fail "$what: no $metric"
	done
}

# Events: their times are what is left out.
cc_program contexts
mkdir events && for i in 1 2; do WAYMARK_OUT=$tmp/events/$i.wmk ./contexts >/dev/null || fail "contexts"; done
expect 0 "$waymark" merge -o events.wmk events/*.wmk
[ "$(wc -l <err.txt)" -eq 1 ] || fail "events: $(cat err.txt)"
has err.txt "events are added up by context: times and threads are left out"
names=$("$waymark" report --format=json events | sed -n 's/^    {"name": "\([^"]*\)", "unit".*/\1/p')
[ -n "$names" ] || fail "events: no metric"
# shellcheck disable=SC2086
alike events $names
expect 0 "$waymark" report --time=0..1 events.wmk
has out.txt "left out (--time"

[ -e "$build/src/sampler/libwaymark-sample.so" ] || { finish; exit; } # a sanitizer build has no sampler

# The heap and samples of programs that Waymark did not build; a child inherits blocks, another one is killed and has leaked nothing.
cat >plain.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char *volatile kept;
static volatile long sum;
__attribute__((noinline)) static void take(int n) { while (n--) kept = malloc(100); }
__attribute__((noinline)) static void give(int n) { while (n--) free(malloc(70)); }
__attribute__((noinline)) static void spin(void) { for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;) sum++; }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	take(n);
	give(3 * n);
	if (!fork()) {
		take(5 * n);
		if (n == 2)
			raise(SIGKILL);
		free(kept);
		_exit(0);
	}
	wait(NULL);
	spin();
	return 0;
}
END
cc -g -O1 -o plain plain.c || fail "plain.c"
mkdir heap && for i in 1 2 3; do expect 0 "$waymark" run -q --heap --sample=997 -o heap ./plain $i; done
expect 0 "$waymark" merge -o heap.wmk heap/*.wmk
alike heap bytes allocations live live-allocations leaked peak temporary inherited inherited-live samples cpu
expect 0 "$waymark" report heap.wmk
has out.txt "heap: contexts by walks of the stack"
# shellcheck disable=SC2012
set -- $(ls heap/*.wmk | head -n 2)
expect 0 "$waymark" merge -o twice-1.wmk "$@"
# shellcheck disable=SC2046,SC2012
expect 0 "$waymark" merge -o twice-2.wmk $(ls heap/*.wmk | tail -n +3)
expect 0 "$waymark" merge -o heap.wmk twice-2.wmk twice-1.wmk
alike heap bytes allocations leaked peak temporary cpu

# All of it beside paths.
expect 0 "$waymark" merge -o some.wmk run-1.wmk heap/*.wmk
expect 0 "$waymark" paths some.wmk
expect 0 "$waymark" report some.wmk
has out.txt " leaked"
finish
