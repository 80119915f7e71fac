#!/bin/sh
# doctor.sh BUILD - waymark doctor: what it says where all is there, and where something is missing or forbidden.
. "$(dirname "$0")/lib.sh"

# says VERDICT PART TEXT
says() {
	grep -E "^$2.* $1 +" out.txt | grep -qF -- "$3" || fail "not \"$2 ... $1 ... $3\": $(cat out.txt)"
}

expect 0 "$waymark" doctor
[ "$(wc -l <out.txt)" -eq 11 ] || fail "not 11 lines: $(cat out.txt)"
says yes "waymark cc" "clang 19"
says yes "samples" "by "
says yes "recordings" "in this directory"
mkdir empty
expect 1 env PATH="$tmp/empty" "$waymark" doctor
says no "waymark cc" "clang-19 is not in PATH: install clang-19 and lld-19"
expect 1 sh -c 'ulimit -v 700000; "$0" doctor' "$waymark"
says no "agent" "ulimit -v"
expect 1 sh -c 'ulimit -f 16; "$0" doctor' "$waymark"
says no "recordings" "ulimit -f"
expect 0 sh -c 'ulimit -c 0; "$0" doctor' "$waymark"
grep -q "^cores .*core_pattern is\|^cores .*a program takes them" out.txt || fail "cores: $(cat out.txt)"
expect 0 env -u DEBUGINFOD_URLS "$waymark" doctor
says partly "names and lines" "DEBUGINFOD_URLS"
refused 2 "one argument too many" "$waymark" doctor x
exit $((failures > 0))
