#!/bin/bash
# run.sh SHOW CUT - reads cores and live processes of stopping.c with show_snapshot and compares with what must be there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
show=$(readlink -f "$1")
cut=$(readlink -f "$2")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-object.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp" || exit 1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
failures=0

fail() {
	echo "FAIL: $*"
	sed 's/^/    /' out.txt | head -n 40
	failures=$((failures + 1))
}

# shown ARGUMENTS... -- LINE...: each LINE, a regular expression, is there, in this order.
shown() {
	local arguments=() line from=1 at
	while [ "$1" != -- ]; do
		arguments+=("$1")
		shift
	done
	shift
	"$show" "${arguments[@]}" >out.txt 2>&1
	for line; do
		at=$(tail -n "+$from" out.txt | grep -n -m 1 -E -- "^$line\$" | cut -d: -f1)
		if [ -z "$at" ]; then
			fail "${arguments[*]}: no line ${line@Q} from line $from on"
			return
		fi
		from=$((from + at))
	done
}

build() {
	clang-19 -g -O1 -fno-optimize-sibling-calls -pthread -fuse-ld=lld -Wl,--build-id "${@:2}" "$here/stopping.c" -o "$1" || exit 1
}

line_of() {
	grep -n -m 1 -F "$1" "$here/stopping.c" | cut -d: -f1
}

deep_line=$(line_of 'deep(n - 1) : stop()')
load_line=$(line_of 'return *p + sink')
stop_line=$(line_of 'load((const volatile int *)0x10)')
frames=("#0 inlined at load stopping.c:$load_line \[stopping\]" "#0 at stop stopping.c:$stop_line \[stopping\]"
	"#1 deep stopping.c:$deep_line \[stopping\]" "#2 deep stopping.c:$deep_line \[stopping\]"
	'#3 main stopping.c:[0-9]+ \[stopping\]')
others=('thread other frames .*' '#. work stopping.c:[0-9]+ \[stopping\]' 'thread other frames .*'
	'#. work stopping.c:[0-9]+ \[stopping\]')
build stopping

core_of fault.core ./stopping fault 1 || exit 1
shown ./stopping fault.core -- 'pid [0-9]+ threads 3 signal 11 live 0 fault 0x10' 'command .*stopping fault 1' \
	'module stopping file stopping build-id' 'module libc.so.6 file libc.so.6 build-id' 'module \[vdso\] .*' \
	'thread first frames 7' "${frames[@]}" '#6 _start .*' "${others[@]}"
# What the core names is found without being named.
shown - fault.core -- 'thread first frames 7' "${frames[@]}"
! grep -q '^note' out.txt || fail "notes where nothing is missing"

core_of signal.core ./stopping signal 1 || exit 1
shown ./stopping signal.core -- 'thread first frames .*' \
	"#0 inlined at load stopping.c:$load_line \[stopping\]" '#0 at handle stopping.c:[0-9]+ \[stopping\]' \
	'#1 at .* \[libc.so.6\] no-cfa' '#2 at .* \[libc.so.6\]' '#. stop stopping.c:[0-9]+ \[stopping\]' \
	"#. deep stopping.c:$deep_line \[stopping\]"

core_of jump.core ./stopping jump 1 || exit 1
shown ./stopping jump.core -- 'pid .* fault 0' '#0 at \? .*' '#1 stop stopping.c:[0-9]+ \[stopping\]' \
	"#2 deep stopping.c:$deep_line \[stopping\]"

core_of trap.core ./stopping trap 0 || exit 1
shown ./stopping trap.core -- 'pid [0-9]+ threads 3 signal 5 live 0' '#. stop stopping.c:[0-9]+ \[stopping\]'

core_of overflow.core ./stopping overflow || exit 1
shown ./stopping overflow.core -- 'pid .* signal 11 .*' 'thread first frames [0-9]{4}' \
	'#0 at endless stopping.c:[0-9]+ \[stopping\]' '#1 endless stopping.c:[0-9]+ \[stopping\]'

# 100,000 frames; quadratic work would take minutes.
(ulimit -s unlimited && core_of deep.core ./stopping fault 100000) || exit 1
shown ./stopping deep.core 3 -- 'thread first frames 100006' "#2 deep stopping.c:$deep_line \[stopping\]"

# Without what the file has: pages that are as in the file.
(echo 1 >/proc/self/coredump_filter && core_of small.core ./stopping fault 1) || exit 1
[ "$(stat -c %s small.core)" -lt "$(stat -c %s fault.core)" ] || fail "the core without files is not smaller"
shown ./stopping small.core -- 'thread first frames 7' "${frames[@]}"

# Cut off: the rest is told.
size=$(stat -c %s fault.core)
"$cut" fault.core half.core $((size / 2))
shown ./stopping half.core -- 'pid [0-9]+ threads 3 signal 11 .*' 'thread first frames [1-9].*' \
	'note half.core: is cut off: [0-9]+ of [0-9]+ bytes of memory are missing .*'
for bytes in 0 3 63 64 100 200 $((size / 2)); do
	head -c "$bytes" fault.core >few.core
	shown ./stopping few.core -- 'error few.core: .*'
done

# Another build, and what is no core.
build other -O2
shown ./other fault.core -- 'error ./other: is of another build than fault.core: its build id is [0-9a-f]{8,}, that of what ran \(.*/stopping\) is [0-9a-f]{8,}: .*'
shown ./stopping ./stopping -- 'error ./stopping: this is no core dump but a program or a shared library'
shown ./stopping "$here/run.sh" -- 'error .*run.sh: this is no core dump .*'
shown "$here/run.sh" fault.core -- 'error .*run.sh: this is no x86-64 program'
shown ./missing fault.core -- 'error ./missing: No such file or directory'
printf '\x28\xb5\x2f\xfd.........' >packed.core
shown ./stopping packed.core -- 'error packed.core: is damaged: nothing of it can be unpacked'

# Separate debug files: by build id, by .gnu_debuglink, not at all.
id=$(readelf -n stopping | sed -n 's/.*Build ID: *//p')
mkdir -p debug/.build-id/"${id:0:2}" apart
llvm-objcopy-19 --only-keep-debug stopping debug/.build-id/"${id:0:2}/${id:2}.debug"
llvm-strip-19 stopping -o apart/stopping
shown apart/stopping fault.core 30 debug -- "${frames[@]}"
shown apart/stopping fault.core -- '#0 at \? \?:0 \[stopping\]' '#6 .*'
llvm-objcopy-19 --only-keep-debug stopping apart/stopping.debug
(cd apart && llvm-objcopy-19 --add-gnu-debuglink=stopping.debug stopping)
shown apart/stopping fault.core -- "${frames[@]}"

# The program is gone, and one of another build has its name.
mv stopping kept
shown - fault.core -- 'module stopping file none build-id' "note .*/stopping \(build id $id\): is not there: .*"
cp other stopping
shown - fault.core -- 'module stopping file none build-id' "note .*/stopping: is of another build now: .* that of what ran is $id: .*"
shown kept fault.core -- "${frames[@]}"
mv kept stopping

for kind in -static -static-pie -no-pie; do
	build "fixed$kind" "$kind"
	core_of "fixed$kind.core" "./fixed$kind" fault 1 || exit 1
	shown "./fixed$kind" "fixed$kind.core" -- 'thread first frames .*' "${frames[@]//stopping\\]/fixed$kind\\]}"
done

# A live process goes on afterwards.
mkfifo ready
./stopping wait 1 >ready &
pid=$!
read -r _ <ready
for program in - ./stopping; do
	shown "$program" $pid -- "pid $pid threads 3 signal 0 live 1" 'thread first named frames .*' \
		'#. stop stopping.c:[0-9]+ \[stopping\]' "#. deep stopping.c:$deep_line \[stopping\]" "${others[@]/other/other named}"
done
shown ./other $pid -- 'error ./other: is of another build than process .*'
kill -0 $pid || fail "the process did not survive"
kill $pid
wait $pid 2>/dev/null
shown - $pid -- "error process $pid: there is no such process"

[ $failures -eq 0 ] || echo "$failures failures"
[ $failures -eq 0 ]
