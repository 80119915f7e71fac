#!/bin/bash
# creators.sh BUILD - what created a thread, in every form in which contexts are shown: tokens, reports, cores.
. "$(dirname "$0")/lib.sh"
. "$here/../support/core.sh"
"$waymark" cc --wm=contexts,trace -O1 -g "$here/creators.c" -o creators -pthread || exit 1

# Events and heap use, in each format.
first="main;first_way;start;[thread];worker"
other="main;other_way;start;[thread];worker"
expect 0 "$waymark" run --heap ./creators
wmk=$(echo waymark-creators-*.wmk)
expect 0 "$waymark" report --format=folded --metric=work "$wmk"
printf '%s 2\n%s 1\n' "$first" "$other" | cmp - out.txt || fail "folded: $(cat out.txt)"
expect 0 "$waymark" report --format=folded --metric=allocations "$wmk"
has out.txt "$first;[malloc] 2"
has out.txt "$other;[malloc] 1"
expect 0 "$waymark" report --metric=work "$wmk"
sed -n 's/^ *#[0-9]*  \([^ ]*\).*/\1/p' out.txt | paste -sd ';' >stacks.txt
has stacks.txt "worker;[thread];start;other_way;main"
expect 0 "$waymark" report --format=json --metric=work "$wmk"
python3 - out.txt "$first" "$other" <<'END' || fail "json: $(cat json.txt)"
import json, sys
report = json.load(open(sys.argv[1]))
names = [f["name"] for f in report["frames"]]
work = [m["name"] for m in report["metrics"]].index("work")
stacks = {}
for c in report["contexts"]:
    if c["values"][work]:
        stack = ";".join(names[f] for f in c["frames"])
        stacks[stack] = stacks.get(stack, 0) + c["values"][work]
sys.exit(stacks != {sys.argv[2]: 2, sys.argv[3]: 1})
END
expect 0 "$waymark" report --format=speedscope --metric=work "$wmk"
python3 - out.txt "$first" "$other" <<'END' || fail "speedscope"
import json, sys
report = json.load(open(sys.argv[1]))
names = [f["name"] for f in report["shared"]["frames"]]
stacks = {}
for p in report["profiles"]:
    if p["name"] == "work":
        for sample, weight in zip(p["samples"], p["weights"]):
            stack = ";".join(names[f] for f in sample)
            stacks[stack] = stacks.get(stack, 0) + weight
sys.exit(stacks != {sys.argv[2]: 2, sys.argv[3]: 1})
END
expect 0 "$waymark" report --format=svg --metric=work "$wmk"
has out.txt "[thread]"
rm "$wmk"

# Threads that create one another.
./creators deep 10000 >log.txt || fail "10000 threads, one after the other"
expect 0 "$waymark" decode --folded log.txt
[ "$(tr ';' '\n' <out.txt | grep -c '^\[thread\]$')" -eq 10000 ] || fail "not 10000 creators: $(head -c 200 out.txt)"
rm ./*.wmk

# Cores: of programs that have captured nothing, with and without a place to record.
for out in /dev/null .; do
	for way in direct nested; do
		WAYMARK_OUT=$out core_of "$way.core" ./creators crash "$way" || exit 1
		expect 0 "$waymark" core ./creators "$way.core"
		case $way in
		direct) want="$first;fault" ;;
		nested) want="main;start;[thread];outer;recurse (4 times);start;[thread];worker;fault" ;;
		esac
		has out.txt "      context $want"
		lacks out.txt "calling context is not known"
	done
done
[ -z "$(find . -name '*.wmk')" ] || fail "a recording of a program that captures nothing"
finish
