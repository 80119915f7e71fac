#!/bin/bash
# core_before.sh BUILD - a function that has returned before the fault is named, with what it is sure to have called; and apart from that
# what may have run. tests/trace/compare.py has the proof that all of it happened, in that order.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

for options in -O0 -O2 "-O2 --wm-stage=source" "-O2 --wm=trace=*=stmt+pt"; do
	# shellcheck disable=SC2086 # a list of words
	"$waymark" cc --wm=trace $options -g "$here/../trace/returned.c" -o program || exit 1
	core_of program.core ./program || exit 1
	expect 0 "$waymark" core ./program program.core
	sed -n '/before this, newest first:/,/^[#T]/p' out.txt | tr '\n' '~' | sed 's/~          */ /g' | tr '~' '\n' >before.txt
	wanted=('^      before this, newest first:$' '^        #0 next_line:( perhaps)? count_line:51$'
		'^        #1 read_all: reset:61, next_line:65 .3 times., note_error:63$'
		'in these, each time:.* reset: note_error:43, drop_buffer:45;' ' drop_buffer: free:27(;|$)'
		'in these, maybe: note_error: count_line:37$')
	[ "$options" != -O0 ] || wanted+=('^        #2 main: strdup:75, calloc:74, calloc:72$')
	[[ $options != *stmt* ]] || ! grep -q '#0 next_line: count_line' before.txt || fail "$options: without call coverage the last call is not sure"
	for text in "${wanted[@]}"; do
		grep -qE -- "$text" before.txt || fail "$options: no '$text' in: $(cat before.txt)"
	done
	! grep -q 'fprintf' before.txt || fail "$options: fprintf never ran: $(cat before.txt)"
	expect 0 "$waymark" core --format=html ./program program.core
	grep -q '<h3>Before this' out.txt || fail "$options: the page has nothing of it"
	grep -q 'reset:61, next_line:65 (3 times), note_error:63</p>' out.txt || fail "$options: the page has no calls"
done
finish
