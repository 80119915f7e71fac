#!/bin/bash
# gdb.sh BUILD - gdb's commands `waymark path` and `waymark backtrace`, on cores, running programs and threads; what they refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
script=$here/../../share/waymark/gdb/waymark.py
cp "$here/core_trace.c" "$here/core_program.c" .
export WAYMARK=$waymark

# debug PROGRAM COMMAND...: output of gdb's commands in out.txt.
debug() {
	local program=$1 command
	local arguments=(-q -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -ex 'set startup-with-shell off'
		-ex "source $script")
	shift
	for command; do
		arguments+=(-ex "$command")
	done
	gdb "${arguments[@]}" "$program" >out.txt 2>&1 </dev/null
}

"$waymark" cc --wm=trace -g -O0 core_trace.c -o program || exit 1
core_of program.core ./program || exit 1
if ! gdb -nx -batch -ex 'python print("has", "python")' 2>&1 | grep -q 'has python'; then
	echo "SKIP: gdb has no Python"
	exit 77
fi

debug program 'core-file program.core' 'waymark path'
has out.txt '#0   list_find  core_trace.c:24'
has out.txt '    path 4 of 5; after a round of the loop'
has out.txt '    then, in progress; after a round of the loop'
grep -qE '^ +24  while \(item->key != key\) \{ +-> is here$' out.txt || fail "waymark path does not say where it is"
lacks out.txt 'path 3 of 5'
debug program 'core-file program.core' 'up 2' 'waymark path 1'
has out.txt '#2   walk  core_trace.c:39'
has out.txt '    made calls: walk:39'
has out.txt '    decided by'
grep -A 1 'decided by' out.txt | grep -qE '^ +38  if \(depth > 0\) \{ +-> true$' || fail "waymark path has no digest"
has out.txt '    not made: puts:42, weigh:44, list_find:45'
debug program 'core-file program.core' 'waymark backtrace 3'
has out.txt '#1   walk  core_trace.c:45'
grep -qE '^ +39 .* -> is here$' out.txt || fail "waymark backtrace has no path of frame 2"
grep -qE '^\([0-9]+ more frames\)$' out.txt || fail "waymark backtrace 3 does not count the rest"

# A running program, each time that it stops.
debug program 'break weigh if key == 1' 'run' 'up' 'waymark path 1' 'delete' 'continue' 'waymark path 1'
has out.txt '#1   walk  core_trace.c:44'
has out.txt '    made calls: weigh:44'
has out.txt '    not made: walk:39, puts:42, list_find:45'
has out.txt '#0   list_find  core_trace.c:24'
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'waymark-gdb.*' -user "$(id -u)" -newer program)" ] || fail "a temporary core was left"

# Inlined functions have no paths of their own.
"$waymark" cc --wm=trace -g -O1 core_program.c -o inlined || exit 1
core_of inlined.core ./inlined fault || exit 1
debug inlined 'core-file inlined.core' 'waymark path' 'up' 'waymark path'
has out.txt '#0   load  core_program.c:'
has out.txt 'inlined: its lines are in the paths of the frame that it is in (up)'
has out.txt '#1   stop  core_program.c:22'

# Refused, in one line.
debug program 'waymark path'
has out.txt 'waymark: nothing runs and no core is open: use run or core-file first'
debug program 'core-file program.core' 'waymark path none'
has out.txt 'waymark: none: is not a number from 1 on'
clang-19 -g -O1 core_program.c -o plain && core_of plain.core ./plain fault || exit 1
debug plain 'core-file plain.core' 'waymark backtrace'
has out.txt 'is not traced: build it with waymark cc --wm=trace'
mkdir bin
ln -s "$(command -v gdb)" bin/gdb
(unset WAYMARK && PATH=$tmp/bin debug program 'core-file program.core' 'waymark path')
has out.txt 'waymark: the program waymark is not there: set WAYMARK'

# What is alike is told once, names of C++ are short.
"$waymark" c++ --wm=trace -g -O0 "$here/core_fold.cpp" -o fold -pthread || exit 1
core_of fold.core ./fold || exit 1
cp "$here/core_fold.cpp" .
debug fold 'core-file fold.core' 'waymark path' 'waymark backtrace 3'
has out.txt '#0   shop::basket<...>::count  core_fold.cpp:29'
has out.txt '    paths 3 to 4 of 4, all alike; after a round of the loop'
has out.txt 'std::operator==<...>:26'
lacks out.txt '_ZN'
has out.txt '#2   odd  core_fold.cpp:'
awk '/^#0 +shop/ { ours = 1 } ours && length($0) > 100 { exit 1 }' out.txt || fail "lines over 100 columns"

# Rounds of a loop with one way round, between paths that are counted.
sed -n '/^cat >rounds.c/,/^END/{/^int/,/^}/p}' "$here/core_fold.sh" >rounds.c
"$waymark" cc --wm=trace -g -O0 rounds.c -o rounds || exit 1
core_of rounds.core ./rounds || exit 1
debug rounds 'core-file rounds.core' 'waymark path 8'
has out.txt '    path 1 of 2'
has out.txt '    path 2 of 2'
[ "$(grep -cx '    round of the loop, once or more' out.txt)" = 2 ] || fail "rounds in gdb: $(grep round out.txt)"
finish
