#!/bin/sh
# run.sh PROGRAM [ARGUMENT...] - runs a runtime test with WAYMARK_OUT set to a fresh directory, which goes away after.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
WAYMARK_OUT=$dir "$@"
