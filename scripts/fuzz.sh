#!/bin/sh
# fuzz.sh TARGET RUNS - runs one libFuzzer target of build-asan/tests/fuzz over its corpus and RUNS new inputs.
#
# New inputs and crashes go under TARGET's build folder; the seeds beside it (tests/fuzz/seeds.c makes them) are only read.
set -eu
target=$1 runs=$2
name=$(basename "$target")
work=$(dirname "$target")/$name.work
mkdir -p "$work"
corpus=$(dirname "$target")/corpus/${name#fuzz_}
[ -d "$corpus" ] || { echo "fuzz: no corpus $corpus" >&2; exit 1; }
if "$target" -runs="$runs" -seed=1 -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
	-verbosity=0 -artifact_prefix="$work/" "$work" "$corpus" >"$work.log" 2>&1; then
	echo "$name: $runs runs"
else
	status=$?
	tail -n 60 "$work.log" >&2
	echo "$name: exit status $status; the input is in $work" >&2
	exit 1
fi
