#!/bin/sh
# same.sh PROGRAM NATIVE - both must print the same and exit the same.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
WAYMARK_OUT=$dir "$1" >"$dir/got"
got=$?
"$2" >"$dir/want"
want=$?
[ "$got" = "$want" ] || {
	echo "exit status $got, natively $want"
	exit 1
}
[ -s "$dir/want" ] || {
	echo "nothing was printed"
	exit 1
}
diff -u "$dir/want" "$dir/got"
