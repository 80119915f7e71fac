#!/bin/sh
# trace.sh BUILD-DIR PROGRAM... - traces programs of ../paths (random=SEED: of generate_flow.c) and compares, in front of each
# instruction, what their frame records say with what they did (step_trace.c). Each at several -O levels.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-trace.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
for name; do
	case $name in
	random=*) "$build/tests/paths/generate-flow" "${name#random=}" "$tmp" && source=$(echo "$tmp"/random.c*) ;;
	*) source=$(echo "$here/../paths/$name".c*) ;;
	esac
	compiler=cc
	[ "${source%.cpp}" = "$source" ] || compiler=c++
	for options in "cc+pt -O0 --wm-trace-paths=2" "fc+cc+pt -O2" "stmt+pt -O1" "stmt+pt -Os --wm-trace-paths=1"; do
		# shellcheck disable=SC2086 # a list of words
		if ! "$build/waymark" $compiler --wm=trace='*='$options -DSTEPPED "$source" -lm -o prog >log 2>&1; then
			head -n 5 log
			echo "FAIL $name $options: not built"
			failed=$((failed + 1))
		elif ! "$build/tests/instrument/step_trace" ./prog >out 2>err </dev/null; then
			head -n 3 err
			echo "FAIL $name $options"
			failed=$((failed + 1))
		else
			echo "ok   $name $options: $(tail -n 1 out)"
		fi
	done
	rm -f "$tmp"/random.c*
done
[ $failed -eq 0 ]
