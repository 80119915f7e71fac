# shellcheck shell=sh
# twice.sh - sourced by tests whose programs are built and run once, and read by two builds of the command ($build is set).
#
# WAYMARK_SANITIZED names a folder with the sanitized `waymark` and the pass and the runtime of $build (scripts/check.sh makes it).
# There the sanitized command is also the compiler: neither the pass nor the runtime is sanitized in any build, so the programs are
# those that the plain command makes.
compiler=${WAYMARK_SANITIZED:-$build}/waymark

# reads FILE PROGRAM ARGUMENT...: the output of $build/PROGRAM, in FILE. The sanitized program must print the same.
reads() {
	reads_file=$1 reads_program=$2
	shift 2
	"$build/$reads_program" "$@" >"$reads_file" || return
	[ -n "${WAYMARK_SANITIZED:-}" ] || return 0
	"$WAYMARK_SANITIZED/$reads_program" "$@" >"$reads_file.sanitized" || return
	cmp "$reads_file" "$reads_file.sanitized" >&2
}
