#!/bin/sh
# bounded.sh [-t SECONDS] [-r RECENT] [-n THREADS] [BUILD] - a busy program (an hour, 4 threads) under `waymark run --sample=997`: the bytes of its
# recording as it runs, and at the end what a report adds up beside what was sampled, how far back samples have their own times, and how long
# the report takes.
set -eu
seconds=3600 recent=64M threads=4
while getopts t:r:n: option; do
	case $option in
	t) seconds=$OPTARG ;;
	r) recent=$OPTARG ;;
	n) threads=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
waymark=$(realpath "${1:-build}")/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bounded.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir"
cat >busy.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sum;
static time_t end;
__attribute__((noinline)) static void spin(int n) { while (n--) sum += (unsigned long)n; }
__attribute__((noinline)) static void one(unsigned bits, int depth);
__attribute__((noinline)) static void zero(unsigned bits, int depth) { if (depth) one(bits, depth - 1); spin(1000); }
static void one(unsigned bits, int depth)
{
	if (depth)
		(bits & 1 ? one : zero)(bits / 2, depth - 1);
	spin(1000);
}
static void *work(void *seed)
{
	for (unsigned long n = (unsigned long)seed; time(NULL) < end; n = n * 6364136223846793005 + 1442695040888963407)
		one((unsigned)(n >> 40), 12);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 2 ? atoi(argv[2]) : 4;
	end = time(NULL) + atoi(argv[1]);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
cc -O1 -g -pthread -o busy busy.c
"$waymark" run -q --sample=997 --recent "$recent" -o busy.wmk ./busy "$seconds" "$threads" &
pid=$!
step=$((seconds / 12 + 1))
while kill -0 $pid 2>/dev/null; do
	sleep $step
	[ ! -f busy.wmk ] || echo "$(date +%T) $(($(stat -c %s busy.wmk) / 1024)) KB"
done
command time -f 'report: %U s, %M KB' "$waymark" report --format=json -o report.json busy.wmk
python3 - <<'END'
import json
r = json.load(open("report.json"))
totals = {m["name"]: m["total"] for m in r["metrics"]}
print("sampled:", r["files"][0]["samples"], "in the report:", totals["samples"], "contexts:", len(r["contexts"]))
END
"$waymark" report --format=events busy.wmk 2>/dev/null | grep -v '^#' | sed -n '1s/ .*/ is the first sample with a time of its own/p; $s/ .*/ the last/p'
