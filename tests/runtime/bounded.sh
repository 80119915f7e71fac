#!/bin/bash
# bounded.sh BUILD - more events than WAYMARK_LIMIT has room for: nothing is dropped, the newest events are there one by one, older ones in sums of
# their contexts, and the file stays within the limit. What a context must have is computed here.
. "$(dirname "$0")/../cli/lib.sh"
"$waymark" cc -O1 -I"$here/../../include" -o bounded "$here/../runtime/bounded.c" -pthread || exit 1

# want EVENTS CONTEXTS THREADS: "COUNT SUM" of each context, sorted. Those of main are others than those of all other threads.
want() {
	awk -v events="$1" -v contexts="$2" -v threads="$3" 'BEGIN {
		left = 1; n = 0
		for (i = 0; i < events; i++) {
			count[n]++; sum[n] += i
			if (--left == 0) { n = (n + 1) % contexts; left = n + 1 }
		}
		for (n in count) {
			print count[n], sum[n]
			if (threads > 1) print count[n] * (threads - 1), sum[n] * (threads - 1)
		}
	}' | sort
}

# got FILE: the same of a recording.
got() {
	join -t '|' <(folded hit "$1") <(folded hit:sum "$1") | sed 's/.*|\(.*\)|\(.*\)/\1 \2/' | sort
}
folded() {
	"$waymark" report --format=folded --metric="$1" "$2" 2>/dev/null | sed 's/ \([0-9]*\)$/|\1/' | sort
}

# exact CASE: counts and sums are those.
exact() {
	got "$1.wmk" | cmp -s - want.txt || fail "$1: $(got "$1.wmk" | diff - want.txt | head -n 5)"
}

# within CASE BYTES
within() {
	[ "$(stat -c %s "$1.wmk")" -le "$2" ] || fail "$1: $(stat -c %s "$1.wmk") bytes"
}

# newest CASE VALUE COUNT: the last so many events up to that value are listed, one by one.
newest() {
	"$waymark" report --format=events "$1.wmk" 2>/dev/null | awk '{ print $4 }' | tail -n "$3" >got.txt
	seq $(($2 - $3 + 1)) "$2" | cmp -s - got.txt || fail "$1: the newest events: $(head -n 2 got.txt) ... $(tail -n 1 got.txt)"
}

# One thread: 200,000 events are 9.6 MB.
want 200000 50 1 >want.txt
WAYMARK_LIMIT=1M expect 0 env WAYMARK_OUT="$tmp/one.wmk" ./bounded 200000 50 1
exact one
within one 1048576
newest one 199999 5000
expect 0 "$waymark" report one.wmk
has out.txt "older events are added up by context and time: only later ones have their own times"
lacks out.txt "dropped"
lacks out.txt "WAYMARK_LIMIT"
expect 0 "$waymark" merge -o merged.wmk one.wmk
exact merged

# Several threads, with a budget of their own; killed.
want 60000 300 4 >want.txt
expect 137 env WAYMARK_RECENT=300K WAYMARK_OUT="$tmp/killed.wmk" ./bounded 60000 300 4 killed
exact killed
within killed 1300000

# Killed anywhere: it can be read, and has what was logged before, but for the event that was being added up.
for last in 30011 40000 47000 51003 60100 70707; do
	expect 137 env WAYMARK_LIMIT=1M WAYMARK_OUT="$tmp/midway-$last.wmk" ./bounded 200000 50 1 $last
	expect 0 "$waymark" report "midway-$last.wmk"
	lacks err.txt damaged
	hits=$(folded hit "midway-$last.wmk" | awk -F'|' '{ s += $NF } END { print s }')
	[ "$hits" -ge $((last - 1)) ] && [ "$hits" -le 200000 ] || fail "midway-$last: $hits events"
done

# More contexts than sums have room for: those with the fewest events go to [lost], none of the others.
expect 0 env WAYMARK_LIMIT=900K WAYMARK_OUT="$tmp/many.wmk" ./bounded 900000 1400 1
within many 921600
folded hit many.wmk >counts.txt
[ "$(awk -F'|' '{ s += $NF } END { print s }' counts.txt)" = 900000 ] || fail "many: $(wc -l <counts.txt) contexts"
want 900000 1400 1 | sort -n -r | head -n 100 | awk '{ print $1 }' >want.txt
grep -v lost counts.txt | sed 's/.*|//' | sort -n -r | head -n 100 | cmp -s - want.txt || fail "many: large contexts were lost"
grep -q lost counts.txt || fail "many: nothing is [lost]"

# A forked child begins anew.
want 60000 50 1 >want.txt
mkdir forked && expect 0 env WAYMARK_LIMIT=1M WAYMARK_OUT="$tmp/forked" ./bounded 60000 50 1 forked
for file in forked/*.wmk; do
	cp "$file" f.wmk
	exact f
done
[ "$(ls forked | wc -l)" -eq 2 ] || fail "forked: $(ls forked)"
finish
