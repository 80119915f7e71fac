#!/bin/bash
# core_smash.sh BUILD - the calling context survives a smashed stack: a return address is overwritten by strcat, gdb's stack is garbage, and
# `waymark core` and gdb's `waymark context` have the chain of calls, either of two that lead there.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
export WAYMARK_OUT=/dev/null WAYMARK=$waymark
script=$here/../../share/waymark/gdb/waymark.py

in_gdb() { # COMMAND: its output in gdb.txt
	gdb -q -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -ex "source $script" -ex "$1" \
		smash smash.core >gdb.txt 2>&1 </dev/null
}

long=$(printf 'A%.0s' {1..90})
printf 'add Ann\ntime\nadd %s\n' "$long" >add.commands
printf 'wake Ann\nadd Ann\nwake Ann\nwake Bob\n' >wake.commands

for options in -O0 '-O1 -fno-inline' '-O2 -fno-inline -fstack-protector-strong'; do
	# shellcheck disable=SC2086 # a list of words
	"$compiler" cc --wm=contexts -g -fno-stack-protector $options "$here/../../examples/smash.c" -o smash || exit 1
	core_of smash.core ./smash add.commands || exit 1
	in_gdb bt
	grep -q '0x4141414141414141 in ?? ()' gdb.txt || fail "$options: the stack is whole: $(cat gdb.txt)"
	lacks gdb.txt add_user
	expect 0 "$waymark" core ./smash smash.core
	grep -qx ' *context main;serve;handle;add_user;greet' out.txt || fail "$options: $(cat out.txt)"
	lacks out.txt 'calling context is not known'
	in_gdb 'waymark context'
	[ "$(grep -E '^#[0-9]+ +[a-z_]+$' gdb.txt | tr -s ' \n' ' ')" = '#0 greet #1 add_user #2 handle #3 serve #4 main ' ] || fail "$options: gdb says: $(cat gdb.txt)"
done

# The other way: the function was called there by wake_user, as gdb stops it.
"$compiler" cc --wm=contexts -g -O1 -fno-inline -fno-stack-protector "$here/../../examples/smash.c" -o smash || exit 1
cat >smash.gdb <<-'END'
	break wake_user
	run wake.commands
	continue
	break *greet
	continue
	set var *(long *)$sp = 0x4141414141414141
	set var *(long *)($sp + 8) = 0x4141414141414141
	delete
	continue
	generate-core-file smash.core
END
gdb -q -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -ex 'set startup-with-shell off' \
	-x smash.gdb ./smash >smash.out 2>&1 </dev/null
expect 0 "$waymark" core ./smash smash.core
grep -qx ' *context main;serve;handle;wake_user;greet' out.txt || fail "wake: $(cat out.txt smash.out)"
finish
