#!/bin/bash
# compiled.sh BUILD - programs that `waymark cc` built, and plain programs with compiled plugins, under `waymark run --sample`: a recording of a
# process has its events in compiled contexts, its allocations to the byte, and its samples in walked contexts of the same functions.
set -u
waymark=$1/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-sampler.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# folded METRIC RECORDING...: stacks of the metric, with their values.
folded() {
	local metric=$1
	shift
	"$waymark" report --format=folded --metric="$metric" "$@" || fail "report of $*"
}

# same TEXT FILE: that is what the file says.
same() {
	printf '%s' "$1" | cmp -s - "$2" || fail "not '$1' but: $(cat "$2")"
}

cat >program.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <waymark.h>
static volatile long sink;
/* Uses so many ms of CPU time. */
static __attribute__((noinline)) void spin(long ms)
{
	struct timespec from, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		for (int i = 0; i < 20000; i++)
			sink += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}
static __attribute__((noinline)) void work(int n)
{
	char *block = malloc(1000 * n);
	memset(block, n, 1000 * n);
	wm_event("request", n);
	spin(100);
	sink += block[n];
	free(block);
}
static void *worker(void *data)
{
	work(2);
	sink++;
	return data;
}
int main(void)
{
	pthread_t thread;
	work(1);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_join(thread, NULL);
	/* Many events: ticks come in the runtime, too. */
	for (int i = 0; i < 200000; i++)
		wm_event("many", 1);
	if (fork() == 0) {
		work(4);
		return 0;
	}
	return wait(NULL) < 0;
}
END
"$waymark" cc -O1 -g program.c -o program -lpthread || { echo "FAIL: build"; exit 1; }
for options in "" --heap; do
	rm -rf out && mkdir out
	# shellcheck disable=SC2086
	timeout -k 5 100 "$waymark" run -q --sample=1000 $options -o out/ ./program >err.txt 2>&1 || fail "status $?"
	same '' err.txt
	[ "$(find out -name '*.wmk' | wc -l)" -eq 2 ] || fail "not a recording for each process: $(ls out)"
	folded request:sum out/*.wmk >events.txt
	same $'main;[thread];worker;work 2\nmain;work 5\n' events.txt
	folded many out/*.wmk >many.txt
	same $'main 200000\n' many.txt
	folded cpu out/*.wmk >cpu.txt
	# Functions of the runtime, which starts threads and records events, are no frames; a thread stands on its creator.
	# Before main and behind it, as the C library cleans up, a sample or two have others.
	grep -Ev '^main(;|\s)|^_dl_fini' cpu.txt >others.txt
	awk '{ sum += $NF } END { exit sum > 5000000 }' others.txt || { cat others.txt; fail "other outermost frames"; }
	! grep -E 'wm1_|wmrt_|own_|run_thread|\[unknown\]' cpu.txt || fail "frames of the runtime"
	awk '/^main;work;spin/ { own += $NF } /^main;\[thread\];worker;work;spin/ { threads += $NF }
	     END { exit !(own > 150e6 && own < 400e6 && threads > 75e6 && threads < 200e6) }' cpu.txt || fail "times: $(cat cpu.txt)"
done
folded bytes out/*.wmk >bytes.txt
grep -q '^main;\[thread\];worker;work;\[malloc\] 2000$' bytes.txt && grep -q '^main;work;\[malloc\] 5000$' bytes.txt ||
	fail "allocations: $(cat bytes.txt)"

# A plugin that waymark cc built records by itself: two recordings, which a report adds up.
cat >plugin.c <<'END'
#include <waymark.h>
void plug(void (*back)(long))
{
	wm_event("plugged", 3);
	back(100);
	wm_event("plugged", 4);
}
END
{
	sed '/^static .*noinline.* void work/,$d' program.c
	cat <<'END'
#include <dlfcn.h>
int main(void)
{
	void *library = dlopen("./plugin.so", RTLD_NOW);
	((void (*)(void (*)(long)))dlsym(library, "plug"))(spin);
	dlclose(library);
	spin(20);
	return 0;
}
END
} >plain.c
if command -v gcc >/dev/null; then
	gcc -O1 -w -I"$1/../include" plain.c -o plain -ldl && "$waymark" cc -O1 -fPIC -shared plugin.c -o plugin.so || fail "build of a plugin"
	rm -rf out && mkdir out
	timeout -k 5 100 "$waymark" run -q --sample=1000 -o out/ ./plain >err.txt 2>&1 || fail "plugin: status $?"
	same '' err.txt
	folded plugged:sum out/*.wmk >events.txt
	grep -q 'plug 7$' events.txt || fail "events of the plugin: $(cat events.txt)"
	folded cpu out/*.wmk >cpu.txt
	awk '/^main;plug;spin/ { plugin += $NF } /^main;spin/ { own += $NF } END { exit !(plugin > 75e6 && own > 10e6) }' cpu.txt ||
		fail "times with a plugin: $(cat cpu.txt)"
fi
[ $failures -eq 0 ]
