# shellcheck shell=sh
# lib.sh - for the scripts beside it: a scratch directory, the command, and checks that print what went wrong.
#
# Each script is run with the build directory as its first argument, makes its other paths absolute, sources this file and ends with
# `finish`.
set -u
build=$(cd "$1" && pwd)
waymark=$build/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-agent.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_AGENT WAYMARK_SECCOMP LD_PRELOAD LD_BIND_NOW
failures=0

# needs COMMAND...: without one of them the test is skipped
needs() {
	for needed; do
		command -v "$needed" >/dev/null || { echo "$needed is missing"; exit 77; }
	done
}

# patient COMMAND...: `waymark attach`, again where it gives up since processors are busy, which is no fault of anything here. $expected: a pattern
# of what it is to say when it gives up, which is not waited for again.
patient() {
	for tries in 1 2 3 4 5 6 7 8; do
		"$@" 2>patient.txt
		status=$?
		[ $status -ne 0 ] && grep -q "do not all come to a stop within\|would stand still for more than\|found no moment for it" patient.txt || break
		[ -z "${expected-}" ] || ! grep -q "$expected" patient.txt || break
	done
	cat patient.txt >&2
	return $status
}

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# has FILE TEXT
has() {
	grep -qF -- "$2" "$1" || { fail "$1 has no \"$2\":"; cat "$1"; }
}

# lacks FILE TEXT
lacks() {
	! grep -qF -- "$2" "$1" || { fail "$1 has \"$2\":"; cat "$1"; }
}

finish() {
	[ $failures -eq 0 ]
	exit
}
