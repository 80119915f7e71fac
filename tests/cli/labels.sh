#!/bin/sh
# labels.sh BUILD - names of recordings (%e, %h, %r, %q) and their labels, in JSON and as groups of a report; many recordings as one line.
. "$(dirname "$0")/lib.sh"

cat >program.c <<'END'
#include <stdlib.h>
static char *volatile kept;
int main(int argc, char **argv)
{
	(void)argc;
	for (int i = atoi(argv[1]); i--;)
		kept = malloc(1000);
	return 0;
}
END
cc -O1 -o program program.c && ln -s program called || exit 1
host=$(uname -n)

expect 0 env WHO=a/b SLURM_PROCID=3 "$waymark" run -q --heap -o '%e-%h-%r-%q{WHO}-%%.wmk' ./called 1
[ -f "called-$host-3-a_b-%.wmk" ] || fail "names: $(ls ./*.wmk)"
expect 0 "$waymark" report "called-$host-3-a_b-%.wmk"
has out.txt "/program, pid"
rm -f ./*.wmk

# A directory: the name that the program was called by.
mkdir named && expect 0 "$waymark" run -q --heap -o named ./called 1
[ -n "$(ls named/waymark-called-*.wmk 2>/dev/null)" ] || fail "called: $(ls named)"

mkdir ranks
for rank in 0 1 2; do
	expect 0 env OMPI_COMM_WORLD_RANK=$rank "$waymark" run -q --heap --label run=7 --label a.b=c=d -o ranks ./program $((rank * 200 + 100))
done
expect 0 "$waymark" report --format=json ranks
for label in '"run": "7"' '"a.b": "c=d"' '"rank": "2"' '"name": "program"' "\"host\": \"$host\"" '"argv": "./program 500"'; do
	has out.txt "$label"
done
expect 0 "$waymark" report --group-by=rank ranks
has out.txt "bytes by rank: 3, the largest 1.67 times the mean"
has out.txt " 500,000  [rank=2]"
has out.txt " 100,000  [rank=0]"
expect 0 "$waymark" report --group-by=rank --format=folded ranks
grep -q '^\[rank=2\];.*main.* 500000$' out.txt || fail "folded: $(cat out.txt)"
expect 0 "$waymark" report --group-by=rank --format=json ranks
has out.txt '"group_by": {"label": "rank", "imbalance": 1.66667, "values": ['
expect 0 "$waymark" report --group-by=none --format=folded ranks
has out.txt "[none=?];"

# Many recordings are one line of text, and what they lack is one note.
mkdir many && for i in 1 2 3 4 5 6 7 8 9; do expect 0 "$waymark" run -q --heap -o many ./program $i; done
expect 0 "$waymark" report many
head -n 1 out.txt | grep -q "^9 recordings: $tmp/program (9), 9 ended by themselves; heap: at most " || fail "many: $(head -n 3 out.txt)"
lacks out.txt ", pid "
expect 0 "$waymark" report --format=json many
[ "$(grep -c '"pid": ' out.txt)" -eq 9 ] || fail "many: files in JSON"

# The first label of a key counts; the environment has some, too.
expect 0 env WAYMARK_LABELS="run=8
more=x" "$waymark" run -q --heap --label run=9 -o two.wmk ./program 1
expect 0 "$waymark" report --format=json two.wmk
has out.txt '"labels": {"run": "9", "more": "x", "name": "program"'
lacks out.txt '"8"'

for label in x =x 'a b=c' x=; do
	expect 2 "$waymark" run --label "$label" ./program 1
	has err.txt "--label $label: KEY=VALUE is needed"
done
finish
