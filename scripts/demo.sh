#!/bin/bash
# demo.sh - the main job, start to end: puts the agent into Debian's perl and draws where its time goes; builds Lua from Debian's
# source with `waymark cc`, runs a Lua program under the heap client, prints the allocation contexts that count, and writes a flame
# graph and a speedscope file. Then the same with `waymark cc --wm=paths`: which paths ran, the hottest of them, and the source with
# them as an HTML page. Where a JDK is, its compiler's allocations. Last, examples/crash dies, and its core tells how it came there.
#
# Nothing but the compiler is changed in Lua's build, and nothing outside this tree and the download cache
# (~/.cache/waymark) is written; missing Debian packages are installed first. Where source packages cannot be had it says
# so and uses examples/expr instead. Results are in build/demo/; run it as often as you like.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
waymark=$top/build/waymark
out=$top/build/demo
export LC_ALL=C.UTF-8
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DESTDIR MAKEFLAGS WAYMARK_OUT WAYMARK_LIMIT WAYMARK_JVM

say() { printf '\n== %s\n' "$*"; }
# Runs a command, and shows what it said only when it fails.
quietly() {
	local log=$out/log
	"$@" >"$log" 2>&1 && return
	local status=$?
	cat "$log" >&2
	echo "demo: failed (exit status $status): $*" >&2
	exit 1
}

say "1/6 Packages and Waymark itself, in build/"
scripts/install-deps.sh build demo
mkdir -p "$out"
scripts/configure.sh build --buildtype=debugoptimized
quietly ninja -C build
rm -rf "$out"
mkdir -p "$out"
echo "$("$waymark" --version)"

say "2/6 A program that is there already: Debian's perl, nothing rebuilt (docs/agent.md)"
shown="perl examples/words.pl /usr/include/linux/*.h"
echo "\$ waymark run --sample --check $shown"
# shellcheck disable=SC2086 # words, and a pattern
"$waymark" run --sample --check -o "$out/perl.wmk" $shown
echo "\$ waymark report perl.wmk --top=2"
"$waymark" report "$out/perl.wmk" --top=2
"$waymark" report "$out/perl.wmk" --format=svg --output="$out/perl.svg"
echo
echo "flame graph: $out/perl.svg  (open it in a browser)"

if source=$(scripts/fetch-source.sh lua5.4); then
	say "3/6 Lua, from Debian's source package: ${source##*/}"
	cp -a "$source" "$out/lua"
	# Debian's own build wants libtool; take its build patches back for Lua's plain Makefile. The security fixes stay.
	for patch in 0002-lua-modules-paths 0001-build-system; do
		quietly patch -R -s -p1 -d "$out/lua" -i debian/patches/$patch.patch
	done
	build=(make -C "$out/lua/src" -j "$(nproc)" linux CC="$waymark cc -std=gnu99")
	shown='make CC="waymark cc -std=gnu99" linux'
	program=("$out/lua/src/lua" "$top/examples/workload.lua")
	tree=$out/lua
	input=/dev/null
else
	say "3/6 No source package to be had here: using examples/expr instead of Lua"
	cp -a examples/expr "$out/expr"
	build=(make -C "$out/expr" CC="$waymark cc" WAYMARK_INCLUDE="$top/include")
	shown='make CC="waymark cc"'
	program=("$out/expr/expr")
	tree=$out/expr
	input=$out/expr/many.txt
	for i in $(seq 500); do sed "s/area(2)/area($i)/" examples/expr/input.txt; done >"$input"
fi
cp -a "$tree" "$out/paths"
echo "\$ $shown"
start=$SECONDS
quietly "${build[@]}"
echo "built in $((SECONDS - start)) s"

say "4/6 A real workload under the heap client"
cd "$out"
echo "\$ waymark run --heap ${program[*]}"
status=0
"$waymark" run --heap "${program[@]}" <"$input" >"$out/output" 2>"$out/errors" || status=$?
tail -n 3 "$out/output"
if [ "$status" != 0 ] && [ "$input" = /dev/null ]; then
	cat "$out/errors" >&2
	echo "demo: the program failed with exit status $status" >&2
	exit 1
fi
wmk=$(ls -t "$out"/waymark-*.wmk | head -n 1)

say "5/6 Where the memory is asked for, and how the program got there"
echo "\$ waymark report ${wmk##*/} --top=5"
"$waymark" report "$wmk" --top=5

say "6/6 Pictures"
"$waymark" report "$wmk" --format=svg --output="$out/flame.svg"
"$waymark" report "$wmk" --format=speedscope --output="$out/heap.speedscope.json"
echo "flame graph:  $out/flame.svg             (open it in a browser)"
echo "speedscope:   $out/heap.speedscope.json  (load it on https://www.speedscope.app)"
echo "the recording: $wmk"
echo
echo "How its calls are encoded (the paper's Table 1 for this program):"
echo "\$ waymark graph ${program[0]}"
"$waymark" graph "${program[0]}"

say "Paths: the same program and workload, built to count them"
build=("${build[@]/#"$tree"/"$out/paths"}")
build=("${build[@]/#"CC=$waymark cc"/"CC=$waymark cc --wm=paths"}")
echo "\$ ${shown/waymark cc/waymark cc --wm=paths}"
quietly "${build[@]}"
program[0]=${program[0]/#"$tree"/"$out/paths"}
echo "\$ ${program[*]}"
again=0
WAYMARK_OUT=$out/paths.wmk "${program[@]}" <"$input" >"$out/output-paths" 2>"$out/errors-paths" || again=$?
if [ "$again" != "$status" ]; then
	cat "$out/errors-paths" >&2
	echo "demo: the program that counts paths failed with exit status $again, the other with $status" >&2
	exit 1
fi
echo "\$ waymark paths paths.wmk --top=3"
"$waymark" paths "$out/paths.wmk" --top=3
"$waymark" paths "$out/paths.wmk" --format=html --output="$out/paths.html"
echo
echo "source with its paths: $out/paths.html  (open it in a browser)"

if [ -f "$top/build/src/jvm/waymark-jvm.jar" ] && command -v java >/dev/null; then
	say "Java: the JDK's own compiler, nothing rebuilt: which call chains allocate most (docs/jvm.md)"
	asm=/usr/share/java
	mkdir -p "$out/java"
	shown="java -m jdk.compiler/com.sun.tools.javac.Main -d classes src/jvm/java/**/*.java"
	echo "\$ waymark run --alloc=65536 $shown"
	# shellcheck disable=SC2046 # names without spaces
	"$waymark" run --alloc=65536 -o "$out/java.wmk" java -m jdk.compiler/com.sun.tools.javac.Main -d "$out/java" \
		-cp "$asm/asm.jar:$asm/asm-tree.jar" $(find "$top/src/jvm/java" -name '*.java')
	echo "\$ waymark report java.wmk --metric=alloc:sum --top=1"
	"$waymark" report "$out/java.wmk" --metric=alloc:sum --top=1
	"$waymark" report "$out/java.wmk" --metric=alloc:sum --format=svg --output="$out/java.svg"
	echo
	echo "flame graph: $out/java.svg  (open it in a browser)"
fi

say "Crashes: a program that dies of its input, built to keep its last steps (docs/tracing.md)"
cp -r "$top/examples/crash" "$out/crash"
cd "$out/crash"
echo "\$ waymark cc --wm=trace -g -O2 -fno-inline settings.c -o settings && ./settings crashes.conf"
quietly "$waymark" cc --wm=trace -g -O2 -fno-inline settings.c -o settings
(ulimit -S -c "$(ulimit -H -c)" && ./settings crashes.conf) >output 2>&1 || true
core=$(find . -name 'core*' -print -quit)
if [ -n "$core" ]; then
	echo "\$ waymark core ./settings $core"
	"$waymark" core ./settings "$core"
	"$waymark" core --format=html --output=crash.html ./settings "$core"
	echo
	echo "the same as a page: $out/crash/crash.html  (open it in a browser)"
elif command -v coredumpctl >/dev/null && "$waymark" core ./settings >core.txt 2>&1; then
	echo "\$ waymark core ./settings"
	cat core.txt
else
	echo "No core of it is to be had here (kernel.core_pattern is $(cat /proc/sys/kernel/core_pattern)): docs/tracing.md shows what it tells."
fi

if [ -s "$top/build/left-out.txt" ]; then
	say "Left out, for want of packages (scripts/check.sh installs them)"
	cat "$top/build/left-out.txt"
fi
