#!/bin/bash
# check.sh BUILD - `waymark run --check` says in one line how many samples agree with the stack, over all processes and however
# they end, and `waymark report` of a recording knows its own.
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
needs gcc

# How long a process must work to be sampled, only the kernel knows: on a busy machine its timers of CPU time may not expire once in
# 100 ms of it. So a program works until a timer of its own, which is no faster than the agent's, has expired some times. Its signal is
# blocked: no handler runs.
cat >ticks.h <<'END'
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static sigset_t tick_signal;
static int ticks;
/* In the thread that is to be sampled, after each fork. */
static void ticks_start(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct itimerspec period = {{0, 10000000}, {0, 10000000}};
	timer_t timer;
	ticks = 0;
	sigemptyset(&tick_signal);
	sigaddset(&tick_signal, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &tick_signal, NULL) != 0 || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &period, NULL) != 0)
		exit(9);
}
static int ticks_are(int enough)
{
	struct timespec now = {0, 0};
	if (sigtimedwait(&tick_signal, NULL, &now) == SIGUSR2)
		ticks++;
	return ticks >= enough;
}
END

# The parent is aborted, the child leaves by _exit; each works until it must have had samples.
cat >program.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
#include "ticks.h"
static volatile long sink;
static __attribute__((noinline)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}
static __attribute__((noinline)) void work(void)
{
	ticks_start();
	do
		inner(10000);
	while (!ticks_are(10));
}
int main(void)
{
	if (fork() == 0) {
		work();
		_exit(0);
	}
	work();
	wait(NULL);
	abort();
}
END
gcc -w -O1 -o program program.c || exit 1
mkdir out
(ulimit -c 0; exec "$waymark" run --check=x ./program) 2>/dev/null && fail "--check takes no value"
(ulimit -c 0; exec "$waymark" run -q --check -o out/ ./program) 2>err.txt
[ $? -eq 134 ] || fail "the program was not aborted"
line=$(grep -cE 'samples? agrees? with the stack' err.txt)
[ "$line" = 1 ] || fail "$line lines of the check"
awk '/samples? agrees?/ { exit !($3 > 0 && $3 == $5) }' err.txt || { fail "samples that do not agree, or none"; cat err.txt; }
[ "$(find out -name '*.wmk' | wc -l)" -eq 2 ] || fail "not two recordings"
# The line of the run is the sum of those of its recordings.
sums() {
	awk '/ samples? \(context unknown/ { agreed += $13; compared += $15; unknown += $5; in_agent += $6 } END { print agreed, compared, unknown, in_agent }'
}
for file in out/*.wmk; do
	"$waymark" report --top=1 "$file" | sed 's/,//g' || fail "report of $file"
done >reports.txt
want=$(awk '/samples? agrees?/ { print $3, $5, $17 + 0, $23 + 0 }' err.txt)
[ "$(sums <reports.txt)" = "$want" ] || { fail "reports say other samples than the run ($want)"; cat reports.txt; }
for file in out/*.wmk; do
	"$waymark" report --format folded --metric cpu "$file" >folded.txt || fail "report of $file"
	grep -q '^main;work' folded.txt || { fail "no work in $file"; cat folded.txt; }
done

# Contexts that are lost, as the recording was full before their calls were found, are not compared.
WAYMARK_LIMIT=300K WAYMARK_AGENT=verbose "$waymark" run -q --check bash -c \
	'while [ $((i += 1)) -lt 150000 ]; do printf -v x %s $i; [[ $x == *a* ]] && echo; done; times' >/dev/null 2>err.txt ||
	fail "bash with a recording that is full"
grep 'differs from the stack' err.txt && fail "contexts that are lost differ"
awk '/samples? agrees?/ { exit !($14 + 0 > 0) }' err.txt || { fail "no sample was left out"; cat err.txt; }

# Calls that close a cycle push, and each push is counted; a child's own only.
cat >recurses.c <<'END'
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static __attribute__((noinline)) int down(int n)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return n ? 1 + down(n - 1) : 0;
}
int main(void)
{
	int got = down(5000);
	if (fork() == 0)
		return down(100) != 100;
	wait(NULL);
	return got + down(2000) != 7000;
}
END
gcc -w -O0 -o recurses recurses.c || exit 1
WAYMARK_AGENT=verbose "$waymark" run --events -q ./recurses 2>err.txt || fail "recurses"
pushes=$(sed -n 's/.* pushes \([0-9]*\) .*/\1/p' err.txt | tr '\n' ' ')
awk '{ exit !($1 >= 90 && $1 <= 110 && $2 >= 6990 && $2 <= 7010) }' <<<"$pushes" ||
	{ fail "pushes: ${pushes:-none}, not about 100 of the child and 7000"; cat err.txt; }
grep -q ' entered [1-9][0-9]* in agent us [1-9]' err.txt || { fail "the agent's own time is not said"; cat err.txt; }
# The child's clock is not its parent's.
sed -n 's/.* in agent us \([0-9]*\).*/\1/p' err.txt | awk '$1 > 1e9 { exit 1 }' || { fail "the agent's own time of a child"; cat err.txt; }

# A second child knows what the first has found, by direct and indirect calls and as a callback, and so does a child's child; what runs
# after exec does not. Children that find nothing have samples.
cat >family.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
#include "ticks.h"
static volatile long sink;
static __attribute__((noinline)) long inner(long n)
{
	return n * 3 + getpid() % 2;
}
static __attribute__((noinline)) long outer(long n)
{
	return inner(n) + inner(n + 1);
}
static int compare(const void *a, const void *b)
{
	return (int)(inner(*(const int *)a) - inner(*(const int *)b));
}
static long (*volatile choices[])(long) = {inner, outer};
static __attribute__((noinline)) void work(void)
{
	int numbers[] = {3, 1, 2};
	ticks_start();
	do {
		for (int i = 0; i < 2; i++)
			sink += choices[i](i);
		qsort(numbers, 3, sizeof *numbers, compare);
	} while (!ticks_are(5));
}
static __attribute__((noinline)) void generations(int n)
{
	if (fork() == 0) {
		if (n > 1)
			generations(n - 1);
		work();
		exit(0);
	}
	wait(NULL);
}
int main(int argc, char **argv)
{
	generations(2);
	generations(1);
	generations(2);
	if (argc == 1)
		execl(argv[0], argv[0], "again", (char *)NULL);
	return 0;
}
END
gcc -w -O1 -o family family.c || exit 1
rm -rf out && mkdir out
WAYMARK_AGENT=verbose "$waymark" run -q --check -o out/ ./family 2>err.txt || fail "family"
told=$(sed -n 's/^waymark: functions .* told \([0-9]*\).*/\1/p' err.txt | tr '\n' ' ')
[[ "$told" =~ ^[1-9][0-9]*\ [1-9][0-9]*\ 0\ 0\ 0\ [1-9][0-9]*\ [1-9][0-9]*\ 0\ 0\ 0\ 0\ $ ]] ||
	fail "children find anew: $told"
awk '/^waymark run: .*samples agree/ { exit !($3 > 0 && $3 == $5) }' err.txt || fail "family: samples that do not agree"
awk '/^waymark: [0-9]+ samples/ && $10 > 0 { n++ } END { exit n < 10 }' err.txt || { fail "children without samples"; cat err.txt; }

# An indirect call with many targets has one stub and one table, not new ones for each target that is found; direct calls that are never
# made share one.
{
	echo '#include <unistd.h>'
	for i in $(seq 300); do
		echo "__attribute__((noinline)) static long target$i(long n) { return getpid() + n % $((i + 1)); }"
	done
	echo 'static long (*volatile targets[])(long) = {'
	printf 'target%d,' $(seq 300)
	echo '}; int main(int argc, char **argv) { long sum = 0; for (int i = 0; i < 300; i++) sum += targets[i](i);'
	# shellcheck disable=SC2183
	printf 'if (argc > %d) sum += target%d(argc);\n' $(seq 600 | awk '{ print $1, ($1 - 1) % 300 + 1 }')
	echo 'return sum < 0; }'
} >targets.c
gcc -w -O1 -o targets targets.c || exit 1
WAYMARK_AGENT=verbose "$waymark" run --events -q ./targets 2>err.txt || fail "targets"
sed -n 's/^waymark: bytes of stubs \([0-9]*\) of tables \([0-9]*\) .*/\1 \2/p' err.txt | awk '{ n++; if ($1 > 10000 || $2 > 700000) exit 1 } END { if (n != 1) exit 1 }' ||
	{ fail "memory of an indirect call with many targets"; cat err.txt; }

# What the agent says comes out though the program closes its standard error, and into no other file.
cat >closes.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	close(2);
	return open("other", O_CREAT | O_WRONLY, 0600) == 2 ? 0 : 1;
}
END
gcc -w -O1 -o closes closes.c || exit 1
WAYMARK_AGENT=verbose "$waymark" run --events -q ./closes 2>err.txt || fail "closes"
grep -q '^waymark: functions [0-9]' err.txt || { fail "a program that closes its standard error: no numbers"; cat err.txt; }
[ -f other ] && [ ! -s other ] || fail "numbers are in a file of the program's"
sed -i 's/close(2)/close_range(2, ~0u, 0)/' closes.c
sed -i '1i #define _GNU_SOURCE' closes.c
gcc -w -O1 -o closes closes.c || exit 1
rm other
WAYMARK_AGENT=verbose "$waymark" run --events -q ./closes 2>err.txt || fail "closes all"
[ -f other ] && [ ! -s other ] || fail "numbers are in a file of a program that closes all"

# An allocator in a library of its own, which functions of libc call that call nothing else: its tail calls are nobody's to undo.
cat >allocator.c <<'END'
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
/* The copies come again and again and may lie over each other; what was there before them, which is the loader's, stays. */
enum { FIRST = 1 << 22, AGAIN = 1 << 22 };
static _Alignas(16) char memory[FIRST + 2 * AGAIN];
static size_t used;
__attribute__((noipa)) static void *take_last(size_t bytes)
{
	void *at = memory + (used < FIRST ? used : FIRST + used % AGAIN) + getauxval(AT_SECURE);
	used += (bytes + 31) & ~(size_t)15;
	return at;
}
static void *take_odd(size_t bytes, int n) __attribute__((noipa));
__attribute__((noipa)) static void *take_even(size_t bytes, int n)
{
	return n ? take_odd(bytes, n - 1) : take_last(bytes);
}
__attribute__((noipa)) static void *take_odd(size_t bytes, int n)
{
	return n ? take_even(bytes, n - 1) : take_last(bytes);
}
void *malloc(size_t bytes)
{
	return take_even(bytes, 3);
}
void *calloc(size_t count, size_t bytes)
{
	return memset(malloc(count * bytes), 0, count * bytes);
}
void *realloc(void *old, size_t bytes)
{
	return old ? memmove(malloc(bytes), old, bytes) : malloc(bytes);
}
void free(void *at)
{
	(void)at;
}
END
cat >copies.c <<'END'
#include <stdlib.h>
#include <string.h>
#include "ticks.h"
static volatile long sink;
static __attribute__((noinline)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}
static int compare(const void *a, const void *b)
{
	inner(300);
	return *(const int *)a - *(const int *)b;
}
static __attribute__((noinline)) void copies(void)
{
	int numbers[] = {3, 1, 2};
	sink += strdup("a name")[1] + ((char *)malloc(2))[1];
	qsort(numbers, 3, sizeof *numbers, compare);
}
int main(void)
{
	ticks_start();
	do
		copies();
	while (!ticks_are(10));
	return 0;
}
END
gcc -w -O2 -fno-builtin -shared -fPIC -o liballocator.so allocator.c && gcc -w -O1 -o copies copies.c ./liballocator.so || exit 1
"$waymark" run -q --check -o copies.wmk ./copies 2>err.txt || fail "copies: exit status $?"
awk '/samples? agrees?/ { exit !($3 > 0 && $3 == $5) }' err.txt || { fail "copies: samples that do not agree, or none"; cat err.txt; }
finish
