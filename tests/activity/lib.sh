# shellcheck shell=bash
# lib.sh - for the scripts beside it, whose first argument is the build directory: here, build, waymark, core_of and a scratch
# directory to work in, which KEEP=1 keeps.
#
# make_program BUILD SEED: here, crash.c or crash.cpp, $source and $compiler: a random program (tests/paths/generate_flow.c) that
# faults after some rolls of its dice (ROLLS, instead of some that SEED tells). One thread and one process, so that each build does
# the same. One that comes to an exit first faults in there. -DFAULT=...: what instead.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
# shellcheck disable=SC2034 # of the scripts
waymark=$build/waymark
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
unset WAYMARK_SCHEME
work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-activity.XXXXXX") || exit 1
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

make_program() {
	"$1/tests/paths/generate-flow" "$2" . || exit 1
	source=$(ls random.c random.cpp 2>/dev/null)
	{
		cat <<'END'
#ifndef FAULT
#define FAULT (*(volatile int *)8 = 1)
#endif
END
		awk -v rolls="${ROLLS:-$(($2 * 7919 % 3000 + 1))}" '
			/^static inline unsigned roll/ { print "static volatile long rolls = " rolls ";" }
			/^static void \*thread/ { exit }
			{ sub(/_exit\(0\)/, "FAULT, abort()"); print }
			/^static inline unsigned roll/ { getline; print; print "\tif (!--rolls)\n\t\tFAULT;" }
		' "$source"
		cat <<'END'
__attribute__((destructor)) static void last(void)
{
	FAULT;
}

int main(void)
{
	int sum = 0;
	for (unsigned long i = 1; i <= 400; i++)
		sum += round_of(i * 77);
	printf("%d\n", sum);
	return 0;
}
END
	} >"crash.${source#*.}"
	source=crash.${source#*.}
	compiler=cc
	[ "$source" = crash.c ] || compiler=c++
}
