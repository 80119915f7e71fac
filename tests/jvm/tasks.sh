#!/bin/bash
# tasks.sh BUILD JDK SOURCES - contexts in tasks continue those of who has enqueued them: tokens against the program's shadow stack, by walks and by words.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Tasks

# own: methods of the program, tasks and threads, of both columns
own() {
	awk -F '\t' '
	function own(stack,    part, n, i, out) {
		n = split(stack, part, ";")
		for (i = 1; i <= n; i++)
			if (part[i] ~ /^Tasks/ && part[i] !~ /^Tasks\.check|<init>|\.enter$|\.close$/ || part[i] ~ /^\[t(ask|hread)\]$/)
				out = out (out == "" ? "" : ";") part[i]
		return out
	}
	{ print own($1) "\t" $2 }'
}

for how in alloc=65536 '' encode,alloc=65536 check encoder=lucce; do
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 100 "$jdk/bin/java" "${quick[@]}" "-agentpath:$agent=$how" -cp classes Tasks >out.txt 2>err.txt ||
		fail "$how: status $?"
	case $how in check) agreed "$how" ;; *) [ ! -s err.txt ] || { head -5 err.txt; fail "$how: standard error"; } ;; esac
	"$waymark" decode --folded --wmk run.wmk <out.txt | own >compared.txt
	awk -F '\t' '$1 != $2 { if (n++ < 5) print "got  " $1 "\nwant " $2 } END { if (NR < 60) print NR " lines"; exit n || NR < 60 }' compared.txt ||
		fail "$how: contexts"
	"$waymark" report --format folded --metric check run.wmk >split.txt
	"$waymark" report --format folded --metric check --tasks=fold run.wmk >fold.txt
	awk '{ n += $NF } END { exit n != lines }' "lines=$(wc -l <out.txt)" split.txt || fail "$how: events"
	grep -q '\[task\]' split.txt && ! grep -q '\[task\]' fold.txt && grep -q '^\(\[thread\]\|Tasks.main;.*\[thread\]\);.*Tasks$Job.run' fold.txt ||
		{ head -5 split.txt fold.txt; fail "$how: report"; }
	case $how in *alloc*)
		"$waymark" report --format folded --metric alloc run.wmk | grep -q '^Tasks.main;Tasks.serve;.*\[task\];.*Tasks$Job.run;.*Tasks.allocates' ||
			fail "$how: alloc" ;;
	esac
done
[ "$failures" = 0 ]
