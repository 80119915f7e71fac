# shellcheck shell=bash
# count.sh - sourced by what runs many comparisons: `count COMMAND...` runs one that prints "ok ..." or "FAIL ..." for each, and shows
# all its lines but the ok ones; `counted` prints how many there were, and fails when one has failed.
good=0 bad=0

count() { # COMMAND...
	local line
	while IFS= read -r line; do
		case $line in
		"ok "*) good=$((good + 1)) ;;
		"FAIL "*)
			bad=$((bad + 1))
			echo "$line"
			;;
		*) echo "$line" ;;
		esac
	done < <("$@" 2>&1)
}

counted() {
	echo "$good comparisons the same, $bad failed"
	[ $bad = 0 ]
}
