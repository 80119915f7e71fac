#!/bin/bash
# all.sh BUILD-DIR [FIRST LAST] - compares every program of this folder with the oracle, in every configuration; then the
# random programs of the seeds FIRST to LAST, in a configuration each. About 20 minutes; prints what differs, and how many were the same.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
read -r -d '' -a configurations <<'END'
O0,array O2,array O0,hash O2,hash O0,call O2,call O0,plan O2,plan O0,half O2,half O2,none O3,gc,array
O2,contexts,array O2,contexts,hash O2,contexts,half O0,final O2,final O2,final,hash O2,final,call O2,final,plan
O2,final,half O2,final,contexts O2,together,array O2,together,hash O0,together,call O2,together,half O2,together,contexts
O1,static O2,nopie,hash O2,pic,half O2,lto,array O2,dwarf0,plan
END
export LINES_MAX=2
# shellcheck source=tests/support/count.sh
. "$here/../support/count.sh"

run() { # NAME CONFIGURATION...
	count "$here/run.sh" "$build" "$@"
}

if [ $# -lt 2 ]; then
	set -- "$1" 1 100
	for file in "$here"/*.c "$here"/*.cpp; do
		name=$(basename "$file")
		case $name in
		trace* | dump.c | generate_flow.c | left_lines.c | *_part.c | *_other.c* | through_c.c) ;;
		# never the same twice; and functions of one path, counted at their entry, that a fault ends
		endless.c | signals.c | storm.c | faults.c)
			run "${name%.*}" O0,together O2,together O2,together,hash O0,together,call O2,together,plan O2,together,half \
				O2,together,contexts O2,final O2,final,hash O2,final,half
			;;
		plugins.c) run plugins "${configurations[@]/*static/O1}" ;; # of shared libraries
		*) run "${name%.*}" "${configurations[@]}" ;;
		esac
	done
fi
for ((seed = $2; seed <= $3; seed++)); do
	run "random=$seed" "${configurations[seed % ${#configurations[@]}]}"
done
counted
