#!/bin/bash
# source_paths.sh BUILD PROGRAM LEVEL... - counts of paths at the final stage, against what ran as it is written (counts.sh):
# nothing that ran may have the count 0 in LCOV. PROGRAM: a file of this folder, or the seed of a random program (lib.sh)
# that ends by itself. KEEP=1 keeps the folder.
# shellcheck source=tests/activity/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/activity/counts.sh
. "$here/counts.sh"
program=$2
shift 2
status=0

if [ -f "$here/$program" ]; then
	cp "$here/$program" .
	source=$program compiler=cc
	[ "${source%.cpp}" = "$source" ] || compiler=c++
else
	ROLLS=1000000000 make_program "$build" "$program"
fi
count_source "$source" '(__gcov_dump(), _exit(0))' || exit 1

for level; do
	for what in paths contexts,paths paths,trace; do
		"$waymark" $compiler -w "--wm=$what" --wm-stage=final -g "-$level" -include unistd.h '-DFAULT=_exit(0)' "$source" \
			-o program -pthread 2>build.txt || {
			cat build.txt
			exit 1
		}
		rm -f ./*.wmk
		./program >/dev/null || exit 1
		"$waymark" paths --format=lcov ./*.wmk >lcov.txt 2>notes.txt || exit 1
		grep -q '^waymark paths: optimized code' notes.txt || {
			echo "FAIL: $program -$level, $what: no word on optimized code: $(cat notes.txt)"
			status=1
		}
		compare_source "$source" "$program -$level, $what" lcov.txt || status=1
	done
done
exit $status
