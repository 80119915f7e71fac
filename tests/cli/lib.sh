# shellcheck shell=sh
# lib.sh - for the scripts beside it: a scratch directory, the command, and checks that print what went wrong.
#
# Each script is run with the build directory as its first argument and starts with `. lib.sh`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
waymark=$build/waymark
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-cli.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD NO_COLOR
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# expect STATUS COMMAND...: runs it, output in out.txt and err.txt. Where a script has set reads_twice (each command reads only), the
# sanitized `waymark` (twice.sh) must do the same.
expect() {
	want=$1
	shift
	status=0
	"$@" >out.txt 2>err.txt </dev/null || status=$?
	if [ $status -ne "$want" ]; then
		fail "$*: exit status $status, not $want"
		head -n 5 err.txt
	fi
	[ "${reads_twice:+$1}" = "$waymark" ] && [ -n "${WAYMARK_SANITIZED:-}" ] || return 0
	shift
	status_sanitized=0
	"$WAYMARK_SANITIZED/waymark" "$@" >out.sanitized 2>err.sanitized </dev/null || status_sanitized=$?
	if [ $status_sanitized -ne $status ] || ! cmp out.txt out.sanitized || ! cmp err.txt err.sanitized; then
		fail "waymark $*: another result when sanitized, exit status $status_sanitized"
		head -n 30 err.sanitized
	fi
}

# refused STATUS TEXT COMMAND...: fails with one line on standard error that has TEXT in it, and nothing on standard output.
refused() {
	want_text=$2
	want_status=$1
	shift 2
	expect "$want_status" "$@"
	[ "$(wc -l <err.txt)" -eq 1 ] || fail "$*: not one line of error: $(cat err.txt)"
	grep -qF -- "$want_text" err.txt || fail "$*: says: $(cat err.txt); not: $want_text"
	[ ! -s out.txt ] || fail "$*: wrote to standard output: $(head -n 1 out.txt)"
}

# has FILE TEXT
has() {
	grep -qF -- "$2" "$1" || fail "$1 has no \"$2\": $(head -n 3 "$1")"
}

# lacks FILE TEXT
lacks() {
	! grep -qF -- "$2" "$1" || fail "$1 has \"$2\""
}

finish() {
	[ $failures -eq 0 ] || echo "$failures failures"
	[ $failures -eq 0 ]
	exit
}

# The program of these tests: `cc_program NAME [FLAGS]` makes ./NAME.
cc_program() {
	name=$1
	shift
	"$waymark" cc -O1 -g "$@" "$here/program.c" -o "$name" || exit 1
}
