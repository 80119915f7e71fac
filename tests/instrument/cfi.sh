#!/bin/sh
# cfi.sh BUILD-DIR - the unwind information of the helpers that the pass adds to programs and libraries is right at each instruction (cfi.py).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
mix=$here/../agent/mix
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-cfi.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM

for level in -O0 -O2; do
	for options in '' --wm=contexts,paths --wm=contexts,paths,trace; do
		# shellcheck disable=SC2086
		set -- "$build/waymark" c++ -w -D_GNU_SOURCE "-I$here/../hazards" "-I$mix" $options $level -pthread
		"$@" -fPIC -shared "$mix/library.cpp" -o "$tmp/library$level$options.so"
		"$@" "$mix/program.cpp" "$tmp/library$level$options.so" -rdynamic -o "$tmp/program$level$options"
	done
done
python3 "$here/cfi.py" "$tmp"/*
