#!/bin/bash
# summary.sh BUILD - `waymark run` without an option: samples of CPU time and of allocations, a summary in at most five lines, and only
# events where a program takes no sampler.
set -euo pipefail
waymark=$1/waymark
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset LD_PRELOAD WAYMARK_OUT WAYMARK_LIMIT WAYMARK_AGENT WAYMARK_RUN

fail() {
	echo "summary: $*" >&2
	cat err.txt >&2
	exit 1
}

cat >spends.c <<'END'
#include <stdlib.h>
#include <time.h>
static void *volatile kept;
static __attribute__((noinline)) void spends(void)
{
	struct timespec now;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (!now.tv_sec && now.tv_nsec < 300000000);
}
static __attribute__((noinline)) void keeps(void)
{
	for (int i = 0; i < 64; i++)
		kept = malloc(1 << 20);
}
int main(int argc, char **argv)
{
	if (argc < 2)
		spends();
	if (argc < 2)
		keeps();
	return 3;
}
END
gcc -g -O1 -fno-optimize-sibling-calls -o spends spends.c
status=0
"$waymark" run -o spends.wmk ./spends 2>err.txt || status=$?
[ "$status" = 3 ] || fail "status $status"
[ "$(wc -l <err.txt)" = 5 ] || fail "not five lines"
grep -qx 'waymark run: wrote spends.wmk' err.txt || fail "no name"
grep -qE '^waymark run: [0-9.,]+ m?s of CPU time: [0-9.]+ % ' err.txt || fail "no CPU time"
grep -qE '^waymark run: ~[0-9,]+ bytes \([0-9.]+ MiB\) allocated: [0-9.]+ % keeps' err.txt || fail "no allocations"
grep -qE '^waymark run: ~[0-9,]+ bytes \([0-9.]+ MiB\) not given back at the end: [0-9.]+ % keeps' err.txt || fail "no leaks"
grep -qF 'waymark run: more by: waymark report spends.wmk;' err.txt || fail "no command"
"$waymark" report --format=folded spends.wmk >folded.txt 2>err.txt
grep -q '^main;keeps;\[malloc\] ' folded.txt || fail "keeps is not in the report"
"$waymark" report --format=folded --metric=cpu spends.wmk >folded.txt 2>err.txt
grep -q '^main;spends' folded.txt || fail "spends is not in the report"

# Quietly, and too short for anything.
"$waymark" run -q -o spends.wmk ./spends 2>err.txt && fail "quiet: status"
[ ! -s err.txt ] || fail "quiet: it says something"
# (A millisecond has a sample now and then, on a busy machine more often than not.)
for try in {1..50}; do
	"$waymark" run -o short.wmk ./spends short 2>err.txt && fail "short: status"
	grep -q ' of CPU time: ' err.txt || break
done
grep -qF 'too short for a sample' err.txt || fail "short: no reason"

# A program of waymark cc that no library can be loaded into keeps its events.
cat >event.c <<'END'
#include <waymark.h>
int main(void) { wm_event("seven", 7); return 0; }
END
"$waymark" cc -static -o event event.c 2>err.txt || fail "waymark cc -static"
"$waymark" run -o event.wmk ./event 2>err.txt || fail "static: status"
grep -q 'only events and tokens are recorded: .*event: is linked statically' err.txt || fail "static: no reason"
"$waymark" report --format=folded --metric=seven:sum event.wmk >folded.txt 2>err.txt
grep -qx 'main 7' folded.txt || fail "static: $(cat folded.txt)"
# One that is of neither kind is refused, as with --events.
gcc -static -o static spends.c
for option in '' --events; do
	"$waymark" run $option ./static 2>err.txt && fail "static, $option: was run"
	grep -q 'static: is linked statically: the agent works on dynamically linked programs; --no-agent runs it without' err.txt || fail "static, $option"
done
