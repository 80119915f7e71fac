#!/bin/sh
# Hybrid encoding: the same contexts as without, with code at fewer calls; also where a frame grows, where frames have no one size at all, where the
# linker strips, and where main is entered twice. What cannot be combined with it is refused.
#
#   hybrid.sh BUILD-DIR
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-hybrid.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
export WAYMARK_OUT="$tmp"
cd "$tmp"
failed=0

figure() { # FILE NAME: from its graph
	reads graph.json waymark graph --format=json "$1" || exit 1
	sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" graph.json
}
decoded() { # FILE: its contexts
	"./$1" 3 >"$1.out"
	reads "$1.decoded" waymark decode --folded --exe . "$1.out"
}
expect() { # WHAT CONDITION...
	what=$1
	shift
	if test "$@"; then echo "ok   $what ($*)"; else echo "FAIL $what: $*"; failed=1; fi
}
same() { # WHAT FILE FILE
	if cmp -s "$2.decoded" "$3.decoded"; then echo "ok   $1: $(wc -l <"$2.decoded") contexts"; else
		echo "FAIL $1: other contexts than without"
		diff "$2.decoded" "$3.decoded" | head -n 4
		failed=1
	fi
}
build() { # FILE OPTION...
	output=$1
	shift
	"$compiler" cc -O2 "$@" -idirafter "$here/../../include" "$here/hybrid.c" -o "$output" 2>"$output.log" || { cat "$output.log"; exit 1; }
	expect "$output: no message" ! -s "$output.log"
}
with_code() { # FILE
	echo $(($(figure "$1" edges) - $(figure "$1" zero_edges) - $(figure "$1" back_edges) - $(figure "$1" cut_edges)))
}

build plain
build hybrid --wm-hybrid
decoded plain
decoded hybrid
same 'frames of fixed size' plain hybrid
expect 'main and the callee of a push are placed' "$(figure hybrid placed_functions)" = 2
expect 'nothing is without one' "$(figure plain placed_functions)" = 0
expect 'calls with code' "$(with_code hybrid)" -lt "$(with_code plain)"
expect 'no call is cut' "$(figure hybrid cut_edges)" = 0

build stripped --wm-hybrid -Wl,-O1,-s
expect 'stripped' -z "$(nm stripped 2>&1 | grep ' main$')"
objcopy -O binary --only-section=.text stripped stripped.text
objcopy -O binary --only-section=.text hybrid hybrid.text
if cmp stripped.text hybrid.text; then echo 'ok   stripped: the same code'; else echo 'FAIL stripped: other code'; failed=1; fi

build growing --wm-hybrid -DGROWS
build growing_plain -DGROWS
decoded growing
decoded growing_plain
same 'a frame that grows' growing_plain growing
expect 'a frame that grows: its calls are cut' "$(figure growing cut_edges)" = 2

build pointers --wm-hybrid -fno-omit-frame-pointer
decoded pointers
same 'frame pointers' plain pointers
expect 'frame pointers: nothing is placed' "$(figure pointers placed_functions)" = 0

build again --wm-hybrid -DBY_POINTER
build again_plain -DBY_POINTER
decoded again
decoded again_plain
same 'main by a pointer' again_plain again

for other in --wm=contexts,paths --wm=contexts,trace; do
	"$compiler" cc -O2 $other --wm-hybrid "$here/hybrid.c" -o refused 2>refused.log && status=0 || status=$?
	expect "$other is refused" "$status" -ne 0
	expect "$other: why" "$(grep -c 'wm-hybrid: only with' refused.log)" = 1
done
exit $failed
