#!/bin/sh
# configure.sh DIR [MESON-SETUP-OPTION]... - configures the build folder DIR with clang 19; the options count for a new folder only.
#
# A folder that was configured before is configured again, in two seconds: what has been installed since then, a JDK or Zydis, is
# noticed. Meson keeps the answers of its earlier checks, so these are forgotten first. Nothing is compiled twice. What the build
# leaves out for want of a package is then in DIR/left-out.txt, a line each.
#
# Quiet unless it fails. Exit status: 0, or that of meson, after its output.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
	if [ -f "$dir/build.ninja" ]; then
		meson configure --clearcache "$dir" && meson setup --reconfigure "$dir"
	else
		CC=clang-19 CXX=clang++-19 meson setup "$dir" "$@"
	fi
} >"$log" 2>&1 || {
	status=$?
	cat "$log" >&2
	exit $status
}
