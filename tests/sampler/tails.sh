#!/bin/bash
# tails.sh BUILD SOURCES - frames that tail calls replaced, in reports of walked stacks (SOURCES/tails.c): each that is shown was there, in this
# order, and where none is left out they are all of them. gdb shows no frame that a report does not.
set -u
source=$(realpath "$2") include=$(realpath "$2/../../include")
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/../agent/lib.sh"
unset DEBUGINFOD_URLS

# Compares the stacks of a report, lines "TRUTH STACK", with the truth.
cat >compare.awk <<'END'
# Are the frames of stack[1..n] in the same order in truth[1..m]? The last is the same.
function is_part(n, m, i, j) {
	for (i = n; i > 0; i--) {
		while (m > 0 && stack[i] != truth[m]) {
			if (i == n) return 0
			m--
		}
		if (m-- == 0) return 0
	}
	return 1
}
{
	name = $1
	m = split(name, truth, ".")
	n = split($2, frames, ";")
	k = 0
	for (i = 1; i <= n; i++)
		if (frames[i] != "[tail_calls]") stack[++k] = frames[i]
	if (!is_part(k, m)) print label ": " $0
}
END

# stacks REPORT-OPTION...: lines "TRUTH STACK".
stacks() {
	local name
	for name in $("$waymark" report --format=json "$@" out/*.wmk | grep -o '"main\.[^":]*"' | tr -d '"' | sort -u); do
		"$waymark" report --format=folded --metric="$name" "$@" out/*.wmk |
			sed "s/ [0-9]*\$//; s/\[tail calls\]/[tail_calls]/g; s/(int)//g; s/^/$name /"
	done
}

# check LABEL REPORT-OPTION...
check() {
	local label=$1
	shift
	stacks "$@" >stacks.txt
	[ -s stacks.txt ] || fail "$label: no stacks"
	awk -v label="$label" -f compare.awk stacks.txt >wrong.txt
	[ ! -s wrong.txt ] || fail "a stack that was not there: $(cat wrong.txt)"
}

# known LABEL TRUTH STACK: that is shown.
known() {
	grep -qxF "$2 $3" stacks.txt || fail "$1: not '$2 $3' but: $(grep -F "$2 " stacks.txt)"
}

cases() {
	known "$1" main.leaf 'main;leaf'
	known "$1" main.top.mid.leaf 'main;top;mid;leaf'
	known "$1" main.two.leaf 'main;two;leaf'
	known "$1" main.fork_and_join.mid.leaf 'main;fork_and_join;[tail_calls];mid;leaf'
	known "$1" main.fork_and_join.top.mid.leaf 'main;fork_and_join;[tail_calls];mid;leaf'
	known "$1" main.ping.leaf 'main;ping;[tail_calls];leaf'
	known "$1" main.ping.pong.ping.pong.leaf 'main;ping;[tail_calls];leaf'
	known "$1" main.by_pointer.leaf 'main;leaf'
	known "$1" main.perhaps_by_pointer.leaf 'main;perhaps_by_pointer;[tail_calls];leaf'
	known "$1" main.before_perhaps.perhaps_by_pointer.leaf 'main;before_perhaps;perhaps_by_pointer;[tail_calls];leaf'
	known "$1" main.around.inlined.mid.leaf 'main;around;inlined;mid;leaf'
	known "$1" main.to_frame.with_frame.leaf 'main;to_frame;with_frame;leaf'
	known "$1" main.library_plain.leaf 'main;library_plain;leaf'
	known "$1" main.library_entry.library_inner.leaf 'main;library_entry;library_inner;leaf'
	known "$1" main.out_and_back.library_entry.library_inner.leaf 'main;out_and_back;library_entry;library_inner;leaf'
}

# gdb's stacks at leaf, in the order of the calls, as "main;mid;leaf".
gdb_stacks() {
	local i
	for ((i = 0; i < 18; i++)); do echo continue; echo bt; done >commands
	sed -i '1s/continue/run/' commands
	LC_ALL=C LD_LIBRARY_PATH=. timeout 100 gdb -batch -nx -ex 'set style enabled off' -ex 'break tails.c:leaf' -x commands ./program 2>/dev/null </dev/null |
		sed -n 's/^#\([0-9]*\) *\(0x[0-9a-f]* in \)\{0,1\}\([a-z_]*\).*/\1 \3/p' |
		awk '$1 == 0 && s != "" { print s; s = "" } { s = s == "" ? $2 : $2 ";" s } END { print s }'
}

# Every function that gdb has is in the stack of the same call: the truth has one line a call.
compare_gdb() {
	local label=$1
	command -v gdb >/dev/null || return 0
	gdb_stacks >gdb.txt
	[ "$(wc -l <gdb.txt)" -eq 18 ] || fail "$label: gdb stopped $(wc -l <gdb.txt) times"
	paste -d' ' order.txt gdb.txt >both.txt
	while read -r truth stack; do
		awk -v truth="$truth" -v gdb="$stack" '
			$1 == truth { found = 1; n = split(gdb, want, ";"); m = split($2, have, ";"); j = 1
				for (i = 1; i <= m && j <= n; i++) if (have[i] == want[j]) j++
				if (j <= n) print $0 " lacks " want[j] " of " gdb }
			END { if (!found) print "no stack of " truth }' stacks.txt
	done <both.txt >lacks.txt
	[ ! -s lacks.txt ] || fail "$label: $(cat lacks.txt)"
}

# The truth of each call, in their order.
printf 'main.%s\n' leaf mid.leaf top.mid.leaf two.leaf two.leaf fork_and_join.mid.leaf fork_and_join.top.mid.leaf ping.leaf \
	ping.pong.ping.pong.leaf ping.pong.ping.pong.ping.leaf by_pointer.leaf perhaps_by_pointer.leaf \
	before_perhaps.perhaps_by_pointer.leaf around.inlined.mid.leaf to_frame.with_frame.leaf library_plain.leaf library_entry.library_inner.leaf \
	out_and_back.library_entry.library_inner.leaf >order.txt

# try LABEL COMPILER ARGUMENT...
try() {
	local label=$1 compiler=$2
	shift 2
	command -v "$compiler" >/dev/null || { echo "left out: $label"; return 0; }
	"$compiler" -w -O2 "$@" -fPIC -shared -o libtails.so "$source/tails_library.c" &&
		"$compiler" -w -O2 "$@" -I"$include" -o program "$source/tails.c" -L. -ltails || { fail "$label: not built"; return 0; }
	compare_run "$label"
	cases "$label"
	compare_gdb "$label"
}

compare_run() {
	rm -rf out && mkdir out
	LD_LIBRARY_PATH=. timeout 60 "$waymark" run -q --sample -o out/ ./program || fail "$1: status $?"
	check "$@"
}

try gcc gcc -g
try gcc-dwarf-4 gcc -gdwarf-4
try g++ g++ -x c++ -g
try clang clang-19 -gdwarf-5
try clang-dwarf-4 clang-19 -gdwarf-4
try gcc-lto gcc -g -flto
# Debug information in files of its own.
if gcc -w -O2 -g -fPIC -shared -o libtails.so "$source/tails_library.c" && gcc -w -O2 -g -I"$include" -o program "$source/tails.c" -L. -ltails; then
	mkdir -p debug/.build-id
	for file in program libtails.so; do
		id=$(readelf -n $file | sed -n 's/ *Build ID: //p')
		mkdir -p "debug/.build-id/${id:0:2}"
		objcopy --only-keep-debug $file "debug/.build-id/${id:0:2}/${id:2}.debug"
		strip $file
	done
	compare_run debug-files --debug-dir=debug
	cases debug-files
	stacks >stacks.txt
	known stripped main.mid.leaf "$(sed -n 's/^main.leaf //p' stacks.txt)"
fi
finish
