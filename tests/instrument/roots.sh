#!/bin/sh
# With -rdynamic every function is a root: the hottest call of each is free all the same.
#
#   roots.sh BUILD-DIR
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-roots.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM

figure() { # NAME: from the graph of the program
	"$build/waymark" graph --format=json "$tmp/program" | tr ',{}' '\n\n\n' | sed -n "s/.*\"$1\": *//p"
}

"$build/waymark" cc -O2 -rdynamic "$here/../hazards/exported.c" -o "$tmp/program"
roots=$(figure roots) free=$(figure zero_edges) edges=$(figure edges)
# One for each function that another one calls.
if [ "$roots" -ne 10 ] || [ "$free" -lt 9 ]; then
	echo "FAIL: $roots roots; $free of $edges edges are free"
	exit 1
fi
echo "ok: $roots roots; $free of $edges edges are free"
