#!/bin/bash
# source.sh BUILD PROGRAM LEVEL... - what cannot have run, against what ran as it is written (counts.sh): nothing that ran may be
# called "cannot have run" in LCOV. PROGRAM: a file of this folder, or the seed of a random program (lib.sh). KEEP=1 keeps
# the folder.
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
	make_program "$build" "$program"
fi
count_source "$source" '(__gcov_dump(), _exit(0))' || exit 1

for level; do
	for scheme in fc stmt cc+pt stmt+pt; do
		"$waymark" $compiler -w "--wm=trace=*=$scheme" -g "-$level" "$source" -o program -pthread 2>build.txt || {
			cat build.txt
			exit 1
		}
		core_of core ./program || exit 1
		"$waymark" core --format=lcov ./program core >lcov.txt || exit 1
		compare_source "$source" "$program -$level, $scheme" lcov.txt || status=1
	done
done
exit $status
