#!/bin/bash
# What samples cost in Debian's own binaries: each program natively, sampled by walks at 250 and 997 samples a second, and encoded by the agent
# with as many samples, in turn.
#
#   bench/sampler/run.sh [-b BUILD-DIR] [-n PAIRS] [-c CPU] [PROGRAM...]
#
# PROGRAM, by default those that are there of: perl python3 sqlite3 jq git gawk cc1 true. All is pinned to CPU. Prints Markdown: the median of
# the ratios of user and system time, with the smallest and the largest in brackets; of `true` the milliseconds that a process costs more.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build pairs=9 cpu=0
while getopts b:n:c: name; do
	case $name in
	b) build=$OPTARG ;;
	n) pairs=$OPTARG ;;
	c) cpu=$OPTARG ;;
	*) sed -n '5p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
waymark=$(cd "$build" && pwd)/waymark
[ $# -gt 0 ] || set -- perl python3 sqlite3 jq git gawk cc1 true
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
gcc -O2 -o "$dir/timed" "$here/../agent/timed.c"
cd "$dir"

# work NAME: the program and its arguments in `words`; false where it is not there
work() {
	case $1 in
	perl) words=(perl "$here/../../examples/words.pl" /usr/include/*.h) ;;
	python3) words=(python3 -c 'import json
for i in range(30): json.loads(json.dumps([{"a": list(range(60)), "b": str(j)} for j in range(1200)]))') ;;
	sqlite3) words=(sqlite3 :memory: 'create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<700000) insert into t select x, x*7%1000 from c; select sum(a) from t where b<500 group by b%3; create index i on t(b); select count(*) from t t1 join t t2 on t1.b=t2.b where t1.a<2500;') ;;
	jq) words=(jq -n '[range(150000) | {a: ., b: (. * 7 % 1000 | tostring)}] | group_by(.b) | map({k: .[0].b, n: length}) | length') ;;
	git) words=(git -C "$here/../.." log --stat -n 300) ;;
	gawk) words=(gawk 'BEGIN { for (i = 0; i < 900000; i++) { a[i % 5000] = a[i % 5000] "" i % 7; if (length(a[i % 5000]) > 40) a[i % 5000] = "" } print length(a) }') ;;
	cc1)
		[ -f unit.c ] || for i in $(seq 900); do echo "int f$i(int x, int *p) { int s = 0; for (int i = 0; i < x; i++) s += p[i] * $i + (x ^ i); return s; }"; done >unit.c
		words=("$(gcc -print-prog-name=cc1)" -quiet -O2 unit.c -o /dev/null)
		;;
	true) words=(sh -c 'i=0; while [ $((i += 1)) -le 40 ]; do /bin/true; done') ;;
	*) return 1 ;;
	esac
	command -v "${words[0]}" >/dev/null
}

# run KIND: user and system microseconds, appended to KIND.txt
run() {
	local with=()
	case $1 in
	walk250) with=("$waymark" run -q --sample=250 -o out/) ;;
	walk997) with=("$waymark" run -q --sample=997 -o out/) ;;
	encode) with=("$waymark" run -q --sample=250 --encode -o out/) ;;
	esac
	rm -rf out times
	mkdir out
	taskset -c "$cpu" ./timed "$PWD/times" ${with[@]+"${with[@]}"} "${words[@]}" >out.txt 2>err.txt || { echo "$*: $(tail -n 1 err.txt)" >&2; return 1; }
	awk '{ print $1 + $2 }' times >>"$1.txt"
}

echo "| program | seconds natively | walk, 250 | walk, 997 | encoded, 250 |"
echo "|---|---|---|---|---|"
for name; do
	work "$name" || { echo "| $name | not here | | | |"; continue; }
	rm -f native.txt walk250.txt walk997.txt encode.txt
	for _ in $(seq "$pairs"); do
		for kind in native walk250 walk997 encode; do
			run $kind || continue 3
		done
	done
	paste native.txt walk250.txt walk997.txt encode.txt | awk -v name="$name" '
		function median(a, n,    i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
			return a[int((n + 1) / 2)]
		}
		{ for (k = 2; k <= 4; k++) r[k, NR] = name == "true" ? ($k - $1) / 1000 / 41 : $k / $1; base[NR] = $1 / 1e6 }
		END {
			printf "| %s | %.2f", name, median(base, NR)
			for (k = 2; k <= 4; k++) {
				for (i = 1; i <= NR; i++) a[i] = r[k, i]
				m = median(a, NR)
				printf name == "true" ? " | %.1f ms (%.1f to %.1f)" : " | %.3f (%.3f to %.3f)", m, a[1], a[NR]
			}
			print " |"
		}'
done
