#!/bin/sh
# patterns.sh TEST SOURCES NAME... - assembles each pattern's NAME.in.S and NAME.out.S, before and after, and has TEST compare what the agent
# plans for the one with the other.
set -eu
test=$1
sources=$2
shift 2
command -v gcc >/dev/null || { echo "gcc is missing"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-patterns.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
failed=0
for name; do
	gcc -I"$sources" -nostdlib -shared -Wl,-Ttext=0x10000000,-z,noseparate-code -o "$dir/in" "$sources/$name.in.S"
	gcc -I"$sources" -nostdlib -static -no-pie -Wl,-e,0,-Ttext=0x10000000,-z,noseparate-code,--section-start=.area=0x18000000 \
		-Wl,--section-start=.stubs=0x18001000,--section-start=.counters=0x19000000,--section-start=.trampoline=0x1a000040 \
		-o "$dir/out" "$sources/$name.out.S"
	timeout 60 "$test" "$name" "$dir/in" "$dir/out" || { failed=$((failed + 1)); objdump -d "$dir/out" -j .text -j .stubs | tail -n +4 >&2; }
done
[ "$failed" -eq 0 ]
