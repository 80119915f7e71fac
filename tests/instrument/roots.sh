#!/bin/sh
# Exported functions. In a program (-rdynamic) the hottest call of each is free although all are roots. In a library calls are edges
# although others may replace the callee, but for those with arguments in memory; all are where the linker binds them in the library.
#
#   roots.sh BUILD-DIR
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
hazards=$here/../hazards
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-roots.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
failed=0

figures() { # FILE NAME...: from its graph
	file=$1
	shift
	reads "$tmp/graph.json" waymark graph --format=json "$file" || exit 1
	tr ',{}' '\n\n\n' <"$tmp/graph.json" >"$tmp/graph"
	for name; do
		printf '%s ' "$(sed -n "s/.*\"$name\": *//p" "$tmp/graph")"
	done
}

expect() { # WHAT FOUND WANTED
	[ "$2" = "$3 " ] && echo "ok   $1: $3" || { echo "FAIL $1: $2, not $3"; failed=1; }
}

"$compiler" cc -O2 -rdynamic "$hazards/exported.c" -o "$tmp/program"
expect 'program: roots, free edges' "$(figures "$tmp/program" roots zero_edges)" '10 9'

library() {
	"$compiler" cc -O2 -fPIC -shared "$@" "$hazards/interposed_library.c" -o "$tmp/library.so"
	figures "$tmp/library.so" edges foreign_sites
}
echo '{ step; };' >"$tmp/list"
echo '{ global: work; local: *; };' >"$tmp/versions"
# write and mmap are foreign wherever the library's own functions are bound.
expect 'library: edges, foreign' "$(library)" '13 5'
expect 'library, its list decides' "$(library -Wl,-Bsymbolic -Wl,--dynamic-list="$tmp/list")" '13 5'
expect 'library, -Bsymbolic' "$(library -Wl,-Bsymbolic)" '14 4'
expect 'library, -Bsymbolic-functions' "$(library -Xlinker -Bsymbolic-functions)" '14 4'
expect 'library, -Bsymbolic and not' "$(library -Wl,-Bsymbolic,-Bno-symbolic)" '13 5'
# The linker's own files say where it binds, as its other words do.
printf -- '-z now\n"-Bsymbolic"' >"$tmp/symbolic"
printf '@%s/symbolic --dynamic-list=%s/list' "$tmp" "$tmp" >"$tmp/both"
echo -Bno-symbolic >"$tmp/not"
expect 'library, -Bsymbolic in a file' "$(library -Wl,-z,relro,@"$tmp/symbolic")" '14 4'
expect 'library, file of files' "$(library -Wl,@"$tmp/both")" '13 5'
expect 'library, -Bsymbolic and a file that takes it back' "$(library -Wl,-Bsymbolic,@"$tmp/not")" '13 5'
expect 'library, version script' "$(library -Wl,--version-script="$tmp/versions")" '15 4'
expect 'library, protected' "$(library -fvisibility=protected)" '14 4'
exit $failed
