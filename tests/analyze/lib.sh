# shellcheck shell=bash
# lib.sh - sourced by the tests of this folder, whose first argument is the build folder: build and here are absolute, the working directory is a
# temporary one, `fail TEXT` lets the test fail at its `exit $failed`, and core_of is that of support/core.sh. A function leave is called at the end.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # of the tests
build=$(cd "$1" && pwd)
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-slices.XXXXXX")
leave() { :; }
trap 'leave; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
cd "$tmp" || exit 1
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}
