#!/bin/sh
# fuzz.sh TARGET RUNS - runs one libFuzzer target of build-asan/tests/fuzz over its corpus and RUNS new inputs.
#
# New inputs and crashes go under TARGET's build folder; the seeds beside it (tests/fuzz/seeds.c makes them) are only read. A run is not
# the same twice, addresses that code compares are in its inputs: what fails prints its input, to be made a seed. The limit of time is for
# an endless loop: a machine that others share may stand still for longer than an input takes.
set -eu
target=$1 runs=$2
name=$(basename "$target")
work=$(dirname "$target")/$name.work
mkdir -p "$work"
corpus=$(dirname "$target")/corpus/${name#fuzz_}
[ -d "$corpus" ] || { echo "fuzz: no corpus $corpus" >&2; exit 1; }
if "$target" -runs="$runs" -seed=1 -max_len=65536 -timeout=120 -rss_limit_mb=2048 -print_final_stats=0 \
	-verbosity=0 -artifact_prefix="$work/" "$work" "$corpus" >"$work.log" 2>&1; then
	echo "$name: $runs runs"
else
	status=$?
	tail -n 60 "$work.log" >&2
	echo "$name: exit status $status; the input is in $work" >&2
	for input in "$work"/crash-* "$work"/timeout-* "$work"/oom-* "$work"/leak-*; do
		[ ! -f "$input" ] || { echo "${input##*/}, by xz and base64:" && xz -9e <"$input" | base64 -w 0 && echo; } >&2
	done
	exit 1
fi
