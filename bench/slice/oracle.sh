#!/bin/bash
# Random programs against their slices, thousands of them: tests/analyze/oracle/oracle.py, batch by batch, until COUNT programs or SECONDS of wall
# time are done.
#
#   bench/slice/oracle.sh [-b BUILD-DIR] [-f FIRST] [-n COUNT] [-t SECONDS] [-- OPTION...]
#
# FIRST: the first seed (default 1). COUNT: default 100000. OPTION: of oracle.py, such as --outside. What is missing is printed with its seeds; the last line
# says how many programs were checked. Exit status 1: something is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build first=1 count=100000 seconds=0 part=1200 failed=0
while getopts b:f:n:t: option; do
	case $option in
	b) build=$OPTARG ;;
	f) first=$OPTARG ;;
	n) count=$OPTARG ;;
	t) seconds=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
build=$(cd "$build" && pwd)
at=$first end=$((first + count))
while [ "$at" -lt "$end" ] && { [ "$seconds" = 0 ] || [ "$SECONDS" -lt "$seconds" ]; }; do
	[ $((at + part)) -le "$end" ] || part=$((end - at))
	"$here/../../tests/analyze/oracle/oracle.py" "$build" "$at" "$part" "$@" || failed=1
	at=$((at + part))
done
echo "seeds $first to $((at - 1)): $((at - first)) programs"
exit $failed
