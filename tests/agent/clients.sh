#!/bin/sh
# clients.sh BUILD INCLUDE SOURCES - wm_capture, wm_token and wm_event in a program that gcc and clang have built, in all ways that
# matter to how a reference to a function of another image is made. Under the agent tokens decode to the stack that the program keeps
# itself, without it they say that nothing is instrumented.
set -u
include=$2
sources=$3
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
for file in clients clients_main; do
	cp "$sources/$file.c" . && cp "$sources/$file.c" $file.cpp
done
built=0

# ran WHAT: the program, without the agent and with it.
ran() {
	./program >plain.txt || fail "$1: status $? without the agent"
	[ "$(cut -d' ' -f2- plain.txt | sort -u)" = wm1:not-instrumented ] || fail "$1: a context without the agent"
	rm -f run.wmk
	"$waymark" run --events -q -o "$dir/run.wmk" ./program >tokens.txt || fail "$1: status $? under the agent"
	cmp -s tokens.txt plain.txt && fail "$1: no context under the agent"
	[ "$(cut -d' ' -f1 tokens.txt)" = "$(cut -d' ' -f1 plain.txt)" ] || fail "$1: other captures under the agent"
	"$waymark" decode --folded --wmk run.wmk <tokens.txt >decoded.txt || fail "$1: decode"
	awk -v what="$1" 'NF != 2 || $1 != $2 { print "FAIL: " what ": " $0; bad = 1 } END { exit bad || !NR }' decoded.txt ||
		failures=$((failures + 1))
	"$waymark" report --format folded --metric seven:sum run.wmk >events.txt || fail "$1: report"
	printf 'main;run;captures;logs 7\nmain;run;logs 7\n' | cmp -s - events.txt || { fail "$1: events"; cat events.txt; }
	built=$((built + 1))
}

names() {
	case $1 in *++*) suffix=cpp ;; *) suffix=c ;; esac
}

# one COMPILER OPTION...: the language is the compiler's
one() {
	names "$1"
	"$@" -w -I"$include" -o program "clients.$suffix" "clients_main.$suffix" -lpthread || { fail "$*: build"; return; }
	ran "$*"
}

# in_library COMPILER OPTION...
in_library() {
	names "$1"
	"$@" -w -fPIC -shared -I"$include" -o libclients.so "clients.$suffix" -lpthread &&
		"$@" -w -o program "clients_main.$suffix" ./libclients.so || { fail "$* -shared: build"; return; }
	ran "$* -shared"
}

found=
for pair in gcc:g++ clang-19:clang++-19; do
	c=${pair%:*} cxx=${pair#*:}
	command -v "$c" >/dev/null && command -v "$cxx" >/dev/null || continue
	found=yes
	for level in -O0 -O1 -O2 -O3; do
		one "$c" $level -fPIE -pie
		one "$c" $level -fno-pie -no-pie
		in_library "$c" $level
		one "$cxx" $level -fno-pie -no-pie
	done
	one "$c" -O2 -fno-plt -fcf-protection=full
	one "$c" -O2 -fno-pie -no-pie -fno-plt -fomit-frame-pointer
	one "$c" -O2 -masm=intel
	one "$c" -O2 -std=c99 -D_GNU_SOURCE
	in_library "$cxx" -O2 -fno-plt
	! command -v ld.lld >/dev/null || one "$c" -O2 -fno-pie -no-pie -fuse-ld=lld
	! command -v ld.gold >/dev/null || one "$c" -O2 -fno-pie -no-pie -fuse-ld=gold
	[ "$c" != gcc ] || one "$c" -O2 -flto -fno-pie -no-pie
	# No loader, no agent.
	if "$c" -w -O2 -static -I"$include" -o program clients.c clients_main.c -lpthread 2>/dev/null; then
		./program >plain.txt || fail "$c -static: status $?"
		[ "$(cut -d' ' -f2- plain.txt | sort -u)" = wm1:not-instrumented ] || fail "$c -static: a context"
	fi
done
[ -n "$found" ] || { echo "neither gcc nor clang-19 is there"; exit 77; }
echo "$built programs"
finish
