#!/bin/sh
# expr.sh WAYMARK SOURCE-DIR - examples/expr built with `waymark cc`: same answers as with another compiler, and each
# warning's token decodes to the call chain that the input dictates.
set -eu
waymark=$(realpath "$1") source=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
unset WAYMARK_OUT WAYMARK_LIMIT MAKEFLAGS CFLAGS

fail() {
	echo "expr: $*" >&2
	exit 1
}

mkdir plain marked
for how in plain marked; do cp "$source"/examples/expr/* $how; done
# At -O1 without inlining the chain has one function a frame.
make -s -C plain CC="clang-19" CFLAGS="-O1 -fno-inline" WAYMARK_INCLUDE="$source/include" || fail "make CC=clang-19"
make -s -C marked CC="$waymark cc" CFLAGS="-O1 -fno-inline" || fail "make CC='waymark cc'"
for how in plain marked; do
	(cd $how && ./expr <input.txt >out 2>log) && fail "$how: exit status 0 in spite of warnings"
done
diff plain/out marked/out || fail "the answers differ"
[ "$(grep -c 'wm1:not-instrumented' plain/log)" = "$(grep -c 'wm1:[0-9a-f]*:' marked/log)" ] || fail "tokens are missing"

(cd marked && "$waymark" decode --folded log >../decoded) || fail "waymark decode"
cat >expected <<'END'
line 8: division by zero [main;do_line;evaluate;call;evaluate;evaluate;evaluate;call;evaluate;divide;warn]
line 9: root of a negative number [main;do_line;evaluate;call;root;warn]
line 11: logarithm of a number that is not positive [main;do_line;evaluate;call;logarithm;warn]
line 12: division by zero [main;do_line;evaluate;divide;warn]
END
diff -u expected decoded || fail "the decoded contexts differ"
