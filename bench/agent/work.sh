#!/bin/bash
# What programs.sh has each of Debian's programs do: 1 to 5 seconds of real work, the same each time.
#
#   bench/agent/work.sh PROGRAM INPUTS SCRATCH      WITH='env LD_PRELOAD=...' bench/agent/work.sh lua5.4 INPUTS SCRATCH
#   bench/agent/work.sh start-PROGRAM INPUTS SCRATCH    has it do next to nothing; long-PROGRAM: several times as much
#   bench/agent/work.sh inputs INPUTS               makes the inputs that all share
#
# WITH, words, comes before the program's command. SCRATCH is an empty folder, which the work runs in. What is written goes to standard
# output, of files their sums. A program that is not there: status 77.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
contexts=$here/../contexts
paths=$here/../paths
read -ra with <<<"${WITH:-env}"
export LC_ALL=C TZ=UTC PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 MALLOC_PERTURB_=0 \
	GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat

under() {
	[ -x "$1" ] || { echo "$1 is not there" >&2; exit 77; }
	"${with[@]}" "$@"
}

# shellcheck disable=SC2016 # make's own variables
work_inputs() {
	local i
	mkdir -p "$1"
	cd "$1"
	find /usr/include -maxdepth 2 -name '*.h' -type f | LC_ALL=C sort | xargs -d '\n' cat 2>/dev/null | head -c 12000000 >text
	head -c 3000000 text >text.short
	seq 1 400000 | awk '{ print ($1 * 7919) % 1000003, "line", $1 % 997, ($1 * 31) % 65521 }' >numbers
	# pictures of moving stripes, as YUV 4:2:0
	perl -e 'for my $f (0 .. 59) { for my $y (0 .. 143) { print pack "C*", map { ($_ * 3 + $y * 2 + $f * 5 ^ ($_ * $y >> 5)) & 255 } 0 .. 175 }
		for my $p (0, 1) { for my $y (0 .. 71) { print pack "C*", map { ($_ + $y * $p + $f) & 255 } 0 .. 87 } } }' >video.yuv
	# C: functions that call each other, structures, switches
	for i in $(seq 0 5000); do
		echo "struct s$i { int a, b[$((i % 7 + 1))]; struct s$i *next; };"
		echo "static int f$i(struct s$i *s, int n) { int sum = n; for (int i = 0; i < n; i++) { switch (i % 5) {"
		echo "case 0: sum += s->a; break; case 1: sum ^= s->b[i % $((i % 7 + 1))]; break; case 2: s->a += sum; break;"
		echo "default: sum += $i; } } return sum * $((i % 13 + 1)); }"
		echo "int g$i(int n) { struct s$i s = {n, {n}, 0}; return f$i(&s, n % 17)$([ "$i" -eq 0 ] || echo " + g$((i - 1))(n / 2)"); }"
	done >code.c
	head -n 3500 code.c >code.short.c
	{
		echo 'all: t4000'
		echo 'double = $(1) $(addsuffix .x,$(1)) $(patsubst %,p%,$(sort $(1)))'
		for i in $(seq 0 4000); do
			echo "V$i := $i \$(V$((i / 2))) \$(subst 1,one,$i)"
			echo "t$i: $([ "$i" -eq 0 ] || echo "t$((i - 1)) t$((i / 2))")"
			printf '\t@echo $(call double,%s $(words $(V%s)))\n' "$i" "$i"
		done
	} >Makefile
}

work_lua5.4() { under /usr/bin/lua5.4 "$contexts/work.lua" 200; }
work_sqlite3() { sed 's/ROWS/200000/' "$contexts/work.sql" | under /usr/bin/sqlite3 :memory:; }
work_perl() { under /usr/bin/perl "$here/work.perl" "$inputs/text.short"; }
work_python3() { under /usr/bin/python3 -S "$here/work.py" "$inputs/text.short"; }
work_gawk() { under /usr/bin/gawk -f "$paths/work.awk" "$inputs/numbers" "$inputs/text.short"; }
work_mujs() { under /usr/bin/mujs "$here/work.js"; }
work_duk() { under /usr/bin/duk "$here/work.js"; }
tcc_files() { # COUNT
	local n
	for n in $(seq "$1"); do cp "$inputs/code.c" "code$n.c"; done
	under /usr/bin/tcc -c code*.c
	cat code*.o | md5sum
}
work_tcc() { tcc_files 10; }
work_cc1() {
	under "$(gcc -print-prog-name=cc1)" -quiet -O2 "$inputs/code.short.c" -o code.s
	md5sum <code.s
}
work_gnugo() {
	{
		echo boardsize 9
		for _ in $(seq 14); do printf 'genmove black\ngenmove white\n'; done
		printf 'showboard\nfinal_score\nquit\n'
	} | under /usr/games/gnugo --mode gtp --seed 1 --level 8
}
work_x264() {
	under /usr/bin/x264 --quiet --no-progress --threads 1 --preset slower --input-res 176x144 --fps 25 -o out.264 "$inputs/video.yuv" \
		2> >(grep -v "^encoded" >&2)
	md5sum <out.264
}
work_povray() {
	under /usr/bin/povray -D -GA +WT1 "+I$here/work.pov" +W240 +H180 +A0.2 +FP +Oout.ppm 2>err || { cat err >&2; return 1; }
	grep '^waymark:' err >&2 || true
	md5sum <out.ppm
}
work_xz() { under /usr/bin/xz -T2 -4 --block-size=1MiB -c "$inputs/text" | md5sum; }
work_pigz() { under /usr/bin/pigz -p 2 -9 -c "$inputs/text" | md5sum; }
work_gzip() { under /usr/bin/gzip -9 -n -c "$inputs/text" | md5sum; }
work_bzip2() { under /usr/bin/bzip2 -9 -c "$inputs/text" | md5sum; }
work_zstd() { under /usr/bin/zstd -q -15 -T1 -c "$inputs/text.short" | md5sum; }
work_cmake() { under /usr/bin/cmake -P "$here/work.cmake"; }
work_bash() { under /usr/bin/bash "$here/work.bash"; }
work_make() { under /usr/bin/make -n -f "$inputs/Makefile" | md5sum; }
work_jq() { under /usr/bin/jq -n '[range(150000) | {a: ., b: (. * 7 % 1000 | tostring)}] | group_by(.b) | map({k: .[0].b, n: length}) | length'; }
# Jobs of many short processes: the driver, cc1, as and ld of small files.
small_files() { # COUNT
	local n
	for n in $(seq "$1"); do
		{
			printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
			sed -n "$((n * 40 + 1)),$((n * 40 + 40))p" "$inputs/code.c" | grep '^struct'
			echo "int file$n(const char *s) { char *copy = strdup(s); int ret = copy ? printf(\"%s\\n\", copy) : -1; free(copy); return ret; }"
		} >"file$n.c"
	done
}
work_gcc() {
	local n
	small_files 20
	for n in $(seq 20); do under /usr/bin/gcc -O1 -c "file$n.c"; done
}
work_ninja() {
	small_files 60
	{
		printf 'rule cc\n command = gcc -O1 -c $in -o $out\nrule ar\n command = ar rcs $out $in\n'
		for n in $(seq 60); do echo "build file$n.o: cc file$n.c"; done
		echo "build all.a: ar $(seq -f 'file%g.o' -s ' ' 60)"
	} >build.ninja
	under /usr/bin/ninja -j1 | tail -n 1
}
work_vim() {
	cp "$inputs/text.short" text
	under /usr/bin/vim.basic -es -u NONE -i NONE -n -c "source $here/work.vim" text || return
	md5sum <text
}
work_git() {
	local n
	export HOME=$PWD GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
	git() { under /usr/bin/git -c user.name=bench -c user.email=bench@localhost -c init.defaultBranch=main -c gc.auto=0 "$@"; }
	git init -q --template= .
	split -l 3000 -a 3 "$inputs/text" part
	git add .
	git commit -q -m 'All files'
	for n in 1 2 3 4 5 6; do
		sed -i "$((n * 7)),$((n * 11))s/^/changed $n /; $((n * 200))d" part*
		git commit -q -a -m "Change $n"
	done
	git log -p -M -C --stat | md5sum
	git blame partaaa | md5sum
	git grep -c define | md5sum
	git repack -q -a -d
	git fsck --full
}

# The same as work_PROGRAM, several times as long in one process: what is between the two is the steady state.
long_lua5.4() { under /usr/bin/lua5.4 "$contexts/work.lua" 1000; }
long_sqlite3() { sed 's/ROWS/800000/' "$contexts/work.sql" | under /usr/bin/sqlite3 :memory:; }
long_perl() { under /usr/bin/perl "$here/work.perl" "$inputs/text" 320000; }
long_python3() {
	under /usr/bin/python3 -S -c 'import sys
del sys.argv[0]
code = compile(open(sys.argv[0]).read(), sys.argv[0], "exec")
for _ in range(5): exec(code, {"__name__": "__main__"})' "$here/work.py" "$inputs/text.short"
}
long_gawk() {
	local inputs_again=("$inputs/numbers" "$inputs/text.short")
	under /usr/bin/gawk -f "$paths/work.awk" "${inputs_again[@]}" "${inputs_again[@]}" "${inputs_again[@]}" "${inputs_again[@]}"
}
repeat_script() { for _ in 1 2 3 4 5 6 7 8; do cat "$1"; done; }
long_mujs() { repeat_script "$here/work.js" >long.js && under /usr/bin/mujs long.js; }
long_duk() { repeat_script "$here/work.js" >long.js && under /usr/bin/duk long.js; }
long_tcc() { tcc_files 40; }
long_gnugo() {
	{
		echo boardsize 9
		for _ in $(seq 28); do printf 'genmove black\ngenmove white\n'; done
		echo quit
	} | under /usr/games/gnugo --mode gtp --seed 1 --level 8
}
long_cc1() {
	head -n 5600 "$inputs/code.c" >code.c
	under "$(gcc -print-prog-name=cc1)" -quiet -O2 code.c -o code.s
	md5sum <code.s
}
long_gzip() { under /usr/bin/gzip -9 -n -c "$inputs/text" "$inputs/text" "$inputs/text" "$inputs/text" | md5sum; }
long_bzip2() { under /usr/bin/bzip2 -9 -c "$inputs/text" "$inputs/text" "$inputs/text" "$inputs/text" | md5sum; }
long_zstd() { under /usr/bin/zstd -q -15 -T1 -c "$inputs/text" | md5sum; }
long_cmake() {
	printf 'foreach(round RANGE 4)\ninclude(%s)\nendforeach()\n' "$here/work.cmake" >long.cmake
	under /usr/bin/cmake -P long.cmake
}
# shellcheck disable=SC2016 # of the bash that runs
long_bash() { under /usr/bin/bash -c 'for round in 1 2 3 4; do . "$0"; unset text; done' "$here/work.bash"; }
long_vim() {
	for _ in 1 2 3 4; do cat "$inputs/text.short"; done >text
	sed 's/4000/24000/; s/6000g/36000g/' "$here/work.vim" >long.vim
	under /usr/bin/vim.basic -es -u NONE -i NONE -n -c "source long.vim" text || return
	md5sum <text
}

# The same programs with next to nothing to do: what it costs to start them.
start_lua5.4() { under /usr/bin/lua5.4 -e ''; }
start_sqlite3() { under /usr/bin/sqlite3 :memory: 'select 1'; }
start_perl() { under /usr/bin/perl -e 1; }
start_python3() { under /usr/bin/python3 -S -c pass; }
start_gawk() { under /usr/bin/gawk 'BEGIN {}'; }
start_mujs() { echo 'print(1)' >start.js && under /usr/bin/mujs start.js; }
start_duk() { echo 'print(1)' >start.js && under /usr/bin/duk start.js; }
start_tcc() { echo 'int i;' >start.c && under /usr/bin/tcc -c start.c -o start.o; }
start_gnugo() { under /usr/games/gnugo --mode gtp --seed 1 <<<quit; }
start_cc1() { echo 'int i;' >start.c && under "$(gcc -print-prog-name=cc1)" -quiet -O2 start.c -o start.s; }
start_x264() { under /usr/bin/x264 --version; }
start_povray() { under /usr/bin/povray --version 2>&1; }
start_xz() { under /usr/bin/xz -c </dev/null; }
start_pigz() { under /usr/bin/pigz -p 1 -c </dev/null; }
start_gzip() { under /usr/bin/gzip -c </dev/null; }
start_bzip2() { under /usr/bin/bzip2 -c </dev/null; }
start_zstd() { under /usr/bin/zstd -q -c </dev/null; }
start_cmake() { echo >start.cmake && under /usr/bin/cmake -P start.cmake; }
start_bash() { under /usr/bin/bash -c :; }
start_true() { under /usr/bin/true; }
start_jq() { under /usr/bin/jq -n 1; }
start_make() { under /usr/bin/make -f /dev/null -q || true; }
start_vim() { echo a >text && under /usr/bin/vim.basic -es -u NONE -i NONE -n -c 'quit!' text; }
start_git() { under /usr/bin/git init -q --template= .; }

if [ "$1" = inputs ]; then
	work_inputs "$2"
	exit
fi
call=work_$1
case $1 in
start-*) call=start_${1#start-} ;;
long-*) call=long_${1#long-} ;;
esac
declare -F "$call" >/dev/null || { echo "work.sh: no program $1" >&2; exit 77; }
inputs=$(cd "$2" && pwd)
cd "$3"
"$call"
