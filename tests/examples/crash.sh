#!/bin/bash
# crash.sh BUILD - the crash of docs/tracing.md tells what the document says, also as a page and in gdb's command.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here"/../../examples/crash/* .
"$waymark" cc --wm=trace -g -O2 -fno-inline settings.c -o settings || exit 1
core_of core ./settings crashes.conf || exit 1
# The listing of the document, to its "…". Where the stack and the heap lie is chance.
expect 0 "$waymark" core ./settings core
sed -n '/^    \$ waymark core .\/settings core$/,/^    …/{/waymark core .\/settings core$/d;/^    …/d;s/^    //;s/0x[0-9a-f]\{8,\}/ADDRESS/g;p}' \
	"$here/../../docs/tracing.md" >listing.txt
head -n "$(wc -l <listing.txt)" out.txt | sed "s|^$tmp/|/tmp/crash/|; s|: $tmp/|: ./|; s|$tmp/|/tmp/crash/|; s/(process [0-9]*/(process 19372/; s/of 1 ([0-9]*)/of 1 (19372)/; s/0x[0-9a-f]\{8,\}/ADDRESS/g" >told.txt
[ "$(wc -l <listing.txt)" -gt 25 ] || fail "docs/tracing.md: no listing"
diff listing.txt told.txt || fail "docs/tracing.md tells another story"
expect 0 "$waymark" core --format=lcov ./settings core
for line in 43 44 54 64; do
	has out.txt "DA:$line,1"
done
for line in 51 80; do
	has out.txt "DA:$line,0"
done
expect 0 ./settings /dev/null
finish
