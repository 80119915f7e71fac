#!/bin/bash
# core_causes.sh BUILD - cores of crashes of many causes: where the stack goes on, which calls have returned, and values that are told.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here/core_causes.c" .

# frames NAME...: the first frames, from the innermost one on; ? is one that is no function.
frames() {
	local number=0 name
	for name; do
		[ "$name" = '?' ] || grep -qE "^#$number +$name  " out.txt || fail "$label: #$number is no $name: $(grep '^#' out.txt)"
		number=$((number + 1))
	done
}

# A call that faulted has not returned, wherever its target is.
for options in "-O2 -fno-optimize-sibling-calls" -O0; do
	# shellcheck disable=SC2086 # a list of words
	"$waymark" cc --wm=trace $options -g core_causes.c -o program || exit 1
	for kind in null small data letters strange; do
		label="$kind $options"
		core_of "$kind.core" ./program $kind || exit 1
		expect 0 "$waymark" core ./program "$kind.core"
		if [ $kind = strange ]; then
			frames leave pass
		else
			frames '?' leave pass
		fi
		sed -n '/before this/,$p' out.txt >before.txt
		grep -q 'pass: .*pointer' before.txt || fail "$label: the first call is not among those that returned: $(cat before.txt)"
		! grep -q 'leave: .*pointer' before.txt || fail "$label: a call that faulted returned: $(cat before.txt)"
	done
done

# A structure is cut behind a member, and not left out.
label=assert
core_of assert.core ./program assert || exit 1
expect 0 "$waymark" core ./program assert.core
grep -qE "arguments: value=\{flags = 6 '.*', padding = 0 '.*', offset = 0, size = 3, \.\.\.\}$" out.txt ||
	fail "the argument of text_of: $(grep -A 1 '^#.*text_of' out.txt)"
expect 0 "$waymark" core --full ./program assert.core
tr -s ' \n' ' ' <out.txt | grep -qE 'value=\{[^}]*u = \{place = 0x[0-9a-f]+' || fail "all of the argument of text_of"

# What a vectorized loop changes is not what it was before the loop.
for compiler in "$waymark cc --wm=trace" clang-19 gcc; do
	label="loop, $compiler"
	$compiler -O2 -ftree-vectorize -g core_causes.c -o loop 2>errors.txt || { cat errors.txt; exit 1; }
	core_of loop.core ./loop shrunk map || exit 1
	expect 0 "$waymark" core ./loop loop.core
	grep -A 4 '^#0 ' out.txt >values.txt
	grep -q '^#0 *count ' values.txt || fail "$label: $(cat values.txt)"
	! grep -E 'arguments:|values:' values.txt | grep -qE '[ ,](at|found) ?= ?0' || fail "$label: values from before the loop: $(cat values.txt)"
done
finish
