#!/bin/bash
# crash.sh BUILD - the crash of docs/tracing.md tells what the document says, also as a page and in gdb's command.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here"/../../examples/crash/* .
"$waymark" cc --wm=trace -g -O2 -fno-inline settings.c -o settings || exit 1
core_of core ./settings crashes.conf || exit 1
expect 0 "$waymark" core --paths=2 ./settings core
tr -s ' ' <out.txt >squeezed.txt
has squeezed.txt "#0 set_value $tmp/settings.c:54:20"
has squeezed.txt ' 54 r->section->values++; -> is here'
has squeezed.txt ' path 9 of 9; after a round of the loop'
has squeezed.txt ' 64 r->comments++;'
has squeezed.txt ' 70 set_value(r, line); -> is here'
expect 0 "$waymark" core --format=lcov ./settings core
for line in 43 44 54 64; do
	has out.txt "DA:$line,1"
done
for line in 51 80; do
	has out.txt "DA:$line,0"
done
expect 0 ./settings /dev/null
finish
