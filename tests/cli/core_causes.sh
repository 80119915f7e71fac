#!/bin/bash
# core_causes.sh BUILD - cores of crashes of many causes: what happened, in a line; where the stack goes on, which calls have returned, and
# values that are told.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
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

# cause EXPECTED: an extended regular expression for the whole of the line; none: there is no line.
cause() {
	local said
	said=$(sed -n 's/^what happened: //p' out.txt)
	[[ $said =~ ^$1$ ]] || fail "$label: what happened: '$said', not '$1'"
}

ulimit -s 1024
"$waymark" cc --wm=trace -O0 -fstack-protector-all -g core_causes.c -o program || exit 1
long=$(printf 'a%.0s' {1..90})
while read -r kind expected; do
	label=$kind
	argument=map
	[ "$kind" != smashed ] || argument=$long
	[ "$kind" != mapping ] || : >"$tmp/map"
	core_of cause.core ./program "$kind" "$argument" || exit 1
	expect 0 "$waymark" core --frames 20 ./program cause.core
	cause "$expected"
done <<'END'
null call through stage->end, which is 0
small call through stage->end, which is 0x18
strange call through stage->end, which is 0x4141414141414141: no address
data call through stage->end, which is 0x[0-9a-f]+: the data bytes and no code
letters call through stage->end, which is 0x[0-9a-f]+: the data letters and no code
member access to whole->part->kind, where whole->part is 0
element access to list\[at\], where list is 0
wild access to list\[at\], where list is 0x4141414141414141: no address
constant write to letters\[0\], which is read-only in .*/program
mapping (write to a read-only mapping of .*/map|access to a mapping of .*/map, which does not permit it)
closed (access to a mapping of .*/map that is closed to any \(PROT_NONE\)|access to a mapping of .*/map, which does not permit it)
shrunk access to byte 4096 of .*/map, which was made shorter: it has 4096 bytes now
deep stack overflow in the cycle first > second > third \([0-9],[0-9]{3} frames\)
thread stack overflow in the cycle first > second > third \([0-9,]+ frames\)
wide stack overflow at 5 frames; that of wide has 67,10[0-9],[0-9]{3} bytes
zero division by parts, which is zero
most integer division whose result does not fit, such as the least number by -1
assert assertion failed: \(value\.flags & 15\) == 5
abort abort\(\) was called by main
trap the compiler's trap \(ud2\): .*
illegal an instruction that the processor does not have: 06
smashed stack smashing: the frame of copy was overwritten behind a buffer
twice double free found by free \("free\(\): double free detected in tcache 2"\)
alien free was given a pointer that malloc did not make, or the heap is corrupted \("free\(\): invalid pointer"\)
heap heap corruption found by free: who wrote is not known \(".*"\)
raise the process sent the signal to itself
killed the signal was sent by process [0-9]+ of user [0-9]+
END

label=again
CORE_GDB='handle SIGSEGV nostop noprint pass' core_of cause.core ./program again || exit 1
expect 0 "$waymark" core ./program cause.core
cause "the process sent the signal to itself, in a handler of a signal"

label=locked
./program locked &
pid=$!
disown $pid
while kill -0 $pid 2>/dev/null && [ "$(cut -d' ' -f1 /proc/$pid/syscall)" != 202 ]; do :; done
expect 0 "$waymark" core -p $pid ./program
cause "deadlock: thread 1 waits for itself"
kill -KILL $pid

# In all formats; without values nothing of the memory is said.
core_of cause.core ./program member || exit 1
expect 0 "$waymark" core --format=json ./program cause.core
has out.txt '"cause": "access to whole->part->kind, where whole->part is 0"'
expect 0 "$waymark" core --format=html ./program cause.core
has out.txt 'access to whole-&gt;part-&gt;kind, where whole-&gt;part is 0'
expect 0 "$waymark" core --no-values ./program cause.core
label="no values"
cause 'access to address 0, where nothing is ever mapped'

# Of optimized code the text of the call is that of its source.
label="optimized"
"$waymark" cc --wm=trace -O2 -g core_causes.c -o optimized || exit 1
core_of cause.core ./optimized null || exit 1
expect 0 "$waymark" core ./optimized cause.core
cause 'call through stage->end, which is 0'

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
	for kind in shrunk from; do
		core_of loop.core ./loop $kind map || exit 1
		expect 0 "$waymark" core ./loop loop.core
		grep -A 4 '^#0 ' out.txt >values.txt
		grep -qE '^#0 *count(_from)? ' values.txt || fail "$label: $(cat values.txt)"
		! grep -E 'arguments:|values:' values.txt | grep -qE '[ ,]((at|found) ?= ?0|at=5)' ||
			fail "$label, $kind: values from before the loop: $(cat values.txt)"
	done
done
finish
