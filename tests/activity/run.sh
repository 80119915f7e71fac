#!/bin/bash
# run.sh BUILD SEED LEVEL,STAGE... - what can have run, against what did: a random program (tests/paths/generate_flow.c)
# faults after some rolls of its dice. Built with coverage of blocks it tells which of them ran; built with less, the
# analysis may not say otherwise: nothing that ran cannot have, and all that is said to have run did.
#
# KEEP=1 keeps the folder.
# shellcheck source=tests/activity/lib.sh
. "$(dirname "$0")/lib.sh"
seed=$2
shift 2
echo "seed $seed, in $work"
status=0

make_program "$build" "$seed"

# made SCHEME LEVEL STAGE: $work/out has what is said of the program with that scheme
made() {
	"$waymark" $compiler "--wm=trace=*=$1" "--wm-stage=$3" -g "-$2" "$source" -o program -pthread 2>build.txt || {
		cat build.txt
		return 1
	}
	core_of core ./program || return 1
	"$build/tests/activity/show-activity" ./program core >out
}

for configuration; do
	level=${configuration%,*} stage=${configuration#*,}
	made stmt "$level" "$stage" || exit 1
	cp out truth
	for scheme in none fc cc fc+cc stmt pt fc+pt cc+pt fc+cc+pt stmt+pt; do
		# This one is there, and is held against what it says itself.
		if [ "$scheme" = stmt ]; then cp truth out; else made "$scheme" "$level" "$stage" || exit 1; fi
		awk -v what="$configuration, $scheme" -v is_none="$([ "$scheme" = none ] && echo 1)" '
			function fail(text) { if (bad++ < 10) print "FAIL: " what ": block " $3 " of " $1 " " text }
			$1 == "partial" { partial = 1; next }
			FNR == NR { key[$1, $3] = $2; ran[$1, $3] = $5; next }
			# untraced, a function keeps its computed gotos as they are
			key[$1, $3] != $2 && is_none { other++; next }
			key[$1, $3] != $2 { fail("is not in the other build"); next }
			ran[$1, $3] == "-" { unknown++; next }
			ran[$1, $3] && $4 == "N" { fail("ran, but is said not to have") }
			!ran[$1, $3] && $4 == "Y" { fail("did not run, but is said to have") }
			{ all++; idle += !ran[$1, $3]; no += $4 == "N"; yes += $4 == "Y" }
			END {
				printf "%s: %d blocks: %d did not run, %d no; %d did, %d yes", what, all, idle, no, all - idle, yes
				print (unknown ? "; " unknown " not known" : "") (partial ? "; partial" : "")
				if (!all || unknown > all / 4 || other > all)
					print "FAIL: " what ": what ran is hardly known"
				exit bad || !all || unknown > all / 4 || other > all
			}
		' truth out || status=1
	done
done
exit $status
