#!/bin/bash
# What contexts cost in size: the code of programs and libraries, with the runtime's, built natively and with Waymark, and how their calls are encoded.
#
#   bench/contexts/size.sh [-b BUILD-DIR] [-w WORK-DIR] [PROGRAM...]
#
# PROGRAM: redis jq nginx git sqlite3 lua (default: all). The native build is clang-19's full LTO with the same -O2. What the build
# system of a program builds is what counts: redis-server and nginx are linked with -rdynamic, jq is a program of libjq.so, the
# others are one file. -w keeps the builds. Needs libonig-dev, libpcre2-dev, zlib1g-dev, autoconf, automake, libtool, bison, flex.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
while getopts "$work_options" option; do
	work_option "$option"
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- redis jq nginx git sqlite3 lua
open_work waymark-size
export WAYMARK_OUT=$work LC_ALL=C
# shellcheck source=programs.sh
. "$here/programs.sh"

# With the runtime's, which is a section of its own.
text_of() { # FILE
	llvm-size-19 -A "$1" | awk '$1 == ".text" || $1 == "wm1_runtime_text" { n += $2 } END { print n }'
}

printf '%-14s %9s %9s   %5s   %s\n' file 'native' 'waymark' 'ratio' 'edges (free), pushes: cycles, foreign, pointers'
for program; do
	for kind in native waymark; do
		build_with "$program" $kind || continue 2
	done
	for file in $(files_of "$program"); do
		a=$(text_of "$work/$program-native/$file")
		b=$(text_of "$work/$program-waymark/$file")
		awk -v name="${file##*/}" -v a="$a" -v b="$b" 'BEGIN { printf "%-14s %9d %9d   %5.2f   ", name, a, b, b / a }'
		"$waymark" graph --format=json "$work/$program-waymark/$file" | tr ',{' '\n\n' | tr -d '" ' |
			awk -F: '{ n[$1] = $2 } END { printf "%d (%d), %d, %d, %d\n", n["edges"], n["zero_edges"], n["back_edges"] + n["cut_edges"], n["foreign_sites"], n["indirect_sites"] }'
	done
done
