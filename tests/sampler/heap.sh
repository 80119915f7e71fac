#!/bin/bash
# heap.sh BUILD - waymark run --heap=BYTES: numbers of each context are near what the program counts itself, with threads, children, reallocs and
# alignment; programs do what they do without; the same for programs that `waymark cc` built.
#
# Seeds are given (WAYMARK_HEAP=BYTES:SEED) and printed: a value may be off by six standard deviations, of which one is at most the root of
# value times (interval + largest block).
set -u
build=$1
waymark=$build/waymark
sampler=$build/src/sampler/libwaymark-sample.so
heap=$build/src/runtime/libwaymark-heap.so
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-heap.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_HEAP WAYMARK_SAMPLE LD_PRELOAD
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# recorded INTERVAL:SEED OUT COMMAND...: the command under the sampler, with that seed.
recorded() {
	local how=$1 out=$2
	shift 2
	WAYMARK_HEAP=$how WAYMARK_OUT=$dir/$out WAYMARK_SECCOMP=$(sed -n 's/^Seccomp_filters:\t//p' /proc/self/status) \
		LD_PRELOAD=$sampler:$heap "$@"
}

# sum METRIC FUNCTION FILE...: of the contexts that the function is in.
sum() {
	local metric=$1 function=$2
	shift 2
	"$waymark" report --format=folded --metric="$metric" "$@" 2>/dev/null |
		awk -v f="$function" '{ n = split($1, frames, ";"); for (i = 1; i <= n; i++) if (frames[i] == f) { s += $NF; break } } END { printf "%d\n", s }'
}

# near WHAT GOT WANTED SPREAD: SPREAD: interval and largest block, in units of the value.
near() {
	awk -v got="$2" -v wanted="$3" -v spread="$4" \
		'BEGIN { d = got - wanted; exit !(d * d <= 36 * wanted * spread) }' || fail "$1: $2 for $3"
}

cat >program.c <<'END'
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static char **kept;
static int kept_count;
static void keep(void *block) { kept[kept_count++] = block; }
/* Counted by the program: what, allocations, bytes, bytes that were never freed. */
static void tell(const char *what, long count, long bytes, long live) { printf("%s %ld %ld %ld\n", what, count, bytes, live); }
NOINLINE void *take(size_t n) { char *p = malloc(n); memset(p, 1, n); return p; }
NOINLINE void freed(void)
{
	long bytes = 0;
	for (int i = 0; i < 200000; i++, bytes += 100 + i % 64)
		free(take(100 + i % 64));
	tell("freed", 200000, bytes, 0);
}
NOINLINE void leaked(void)
{
	for (int i = 0; i < 50000; i++)
		keep(take(200));
	tell("leaked", 50000, 50000 * 200, 50000 * 200);
}
NOINLINE void grown(void)
{
	char *p = NULL;
	long bytes = 0;
	int n = 0;
	for (size_t size = 16; size <= 40000; size += 16, n++, bytes += size - 16)
		p = realloc(p, size);
	keep(p);
	tell("grown", n, bytes, 40000);
}
NOINLINE void others(void)
{
	long bytes = 0;
	for (int i = 0; i < 20000; i++) {
		void *p = NULL;
		free(calloc(10, 50));
		if (posix_memalign(&p, 64, 500) == 0)
			free(p);
		free(aligned_alloc(64, 512));
		free(memalign(128, 500));
		bytes += 2012;
	}
	tell("others", 80000, bytes, 0);
}
NOINLINE void *worker(void *data)
{
	for (int i = 0; i < 30000; i++)
		free(take(300));
	return data;
}
NOINLINE void threads(void)
{
	pthread_t all[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, worker, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	tell("worker", 120000, 120000 * 300L, 0);
}
/* What the child frees is its parent's. */
NOINLINE void child(void)
{
	long bytes = 0;
	for (int i = 0; i < kept_count; i++)
		free(kept[i]);
	for (int i = 0; i < 30000; i++, bytes += 400)
		keep(take(400)), kept_count--;
	tell("child", 30000, bytes, bytes);
}
int main(void)
{
	static char output[4096];
	setvbuf(stdout, output, _IOFBF, sizeof output);
	kept = malloc(100000 * sizeof *kept);
	freed();
	leaked();
	grown();
	others();
	threads();
	fflush(stdout);
	if (fork() == 0) {
		child();
		exit(0);
	}
	wait(NULL);
	return 0;
}
END
gcc -O1 -fno-builtin -rdynamic -pthread program.c -o plain || exit 77
"$waymark" cc -O1 -fno-builtin -pthread program.c -o compiled || fail "waymark cc"

# check PROGRAM INTERVAL SEED INTERVAL_AS_SHOWN
check() {
	local program=$1 interval=$2 seed=$3 what count bytes live
	rm -f ./*.wmk
	recorded "$interval:$seed" r.%p.wmk "./$program" >told.txt 2>err.txt || fail "$program: exit $?"
	[ ! -s err.txt ] || fail "$program says: $(cat err.txt)"
	[ "$(cat told.txt)" = "$(cat want.txt)" ] || fail "$program prints something else: $(diff told.txt want.txt)"
	[ "$(ls ./*.wmk | wc -l)" = 2 ] || fail "$program: $(ls ./*.wmk)"
	"$waymark" report ./*.wmk >report.txt || fail "report"
	grep -q "heap: sampled, one allocation in $4 bytes: numbers with ~ are estimates" report.txt ||
		fail "no word of samples: $(head -5 report.txt)"
	grep -q '^ *~[0-9,]*  allocations$' report.txt || fail "estimates are not marked: $(grep allocations report.txt)"
	while read -r what count bytes live; do
		# The variance of a count is the sum of interval / size, at most count times interval / mean size.
		near "$program, $interval:$seed, bytes of $what" "$(sum bytes "$what" ./*.wmk)" "$bytes" $((interval + 40000))
		near "$program, $interval:$seed, allocations of $what" "$(sum allocations "$what" ./*.wmk)" "$count" \
			$(((interval + 40000) * count / bytes + 1))
		near "$program, $interval:$seed, leaked by $what" "$(sum leaked "$what" ./*.wmk)" "$live" $((interval + 40000))
	done <told.txt
}
./plain >want.txt
check plain 10000 1 10,000
check compiled 10000 2 10,000
check plain 524288 3 524,288
# With an interval of one byte all blocks of some bytes are in it: the numbers are the program's.
rm -f ./*.wmk
recorded 1:4 r.%p.wmk ./plain >told.txt
while read -r what count bytes live; do
	[ "$(sum bytes "$what" ./*.wmk) $(sum leaked "$what" ./*.wmk)" = "$bytes $live" ] ||
		fail "one byte: $what has $(sum bytes "$what" ./*.wmk) bytes, $(sum leaked "$what" ./*.wmk) leaked, not $bytes, $live"
done <told.txt
# The whole context, as of a sample.
"$waymark" report --format=folded --metric=allocations ./*.wmk >stacks.txt
for stack in 'main;freed;take;\[malloc\]' 'main;grown;\[realloc\]' 'main;threads;\[thread\];worker;take;\[malloc\]' \
	'main;others;\[calloc\]' 'main;others;\[posix_memalign\]' 'main;others;\[aligned_alloc\]' 'main;others;\[memalign\]'; do
	grep -q "^$stack [0-9]" stacks.txt || fail "no $stack in $(cat stacks.txt)"
done

# Samples that fall into Waymark's own malloc are below the program's functions, and name it, and no function of its own.
cat >often.c <<'END'
#include <stdlib.h>
static void *volatile last;
__attribute__((noinline)) static void often(void) { for (int i = 0; i < 3000000; i++) free(last = malloc(40)); }
int main(void) { often(); }
END
gcc -O1 -g -o often often.c || fail "often.c does not build"
"$waymark" run -q --heap --sample=997 -o often.wmk ./often || fail "often: $?"
"$waymark" report --format=folded --metric=samples often.wmk >folded.txt
grep -q '^main;often;\[waymark\] ' folded.txt || fail "often: no time in Waymark: $(cat folded.txt)"
grep -q 'tell_\|take_told\|preload' folded.txt && fail "often: functions of Waymark: $(cat folded.txt)"

# By the command, with samples beside it.
"$waymark" run -q --heap=64K --sample=997 -o both.wmk ./plain >told.txt || fail "run: $?"
[ "$(cat told.txt)" = "$(cat want.txt)" ] || fail "run prints something else"
near "run --heap=64K" "$(sum bytes main both.wmk)" "$(awk '$1 != "child" { s += $3 } END { print s + 800000 }' want.txt)" $((65536 + 800000))
for program in 'perl -e for(1..30000){$h{$_}=[$_];delete$h{$_-99}}print(scalar(keys(%h)),"\n")' \
	'python3 -c import\ json;print(len(json.dumps([json.loads("[1,{\"a\":[2]}]")for\ i\ in\ range(9000)])))' 'sort /etc/passwd'; do
	eval "set -- $(printf '%s' "$program" | awk '{ printf "%s %s ", $1, $2; $1 = $2 = ""; sub(/^ */, ""); gsub(/\\ /, " "); printf "'\''%s'\''\n", $0 }')"
	command -v "$1" >/dev/null || continue
	"$@" >out_without.txt 2>err_without.txt
	"$waymark" run -q --heap=32K -o x.wmk "$@" >out.txt 2>err.txt
	cmp -s out.txt out_without.txt && cmp -s err.txt err_without.txt || fail "$program: $(cat err.txt)"
	rm -f ./x*.wmk
done
# What cannot be.
for value in 0 x 1X 2G '' 12Kx -5; do
	"$waymark" run --heap=$value ./plain >out.txt 2>err.txt && fail "--heap=$value runs"
	grep -q -- "--heap=$value: \"every\" or a number of bytes from 1 to 1G is needed" err.txt || fail "--heap=$value: $(cat err.txt)"
done
for options in --encode --check --agent; do
	"$waymark" run --heap=512K $options ./plain >out.txt 2>err.txt && fail "$options runs"
	grep -q "does not go together with" err.txt || fail "$options: $(cat err.txt)"
done
"$waymark" run -q --heap=every -o every.wmk ./compiled >/dev/null || fail "--heap=every"
[ "$(sum bytes freed every.wmk)" = "$(awk '$1 == "freed" { print $3 }' want.txt)" ] || fail "--heap=every is not exact"
[ "$failures" = 0 ] || exit 1
echo "seeds 1 to 4: passed"
