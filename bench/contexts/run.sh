#!/bin/bash
# What contexts cost: programs built natively and with Waymark, run in turn on one CPU.
#
#   bench/contexts/run.sh [-b BUILD-DIR] [-n PAIRS] [-w WORK-DIR] [-i | -c] [PROGRAM...]
#
# PROGRAM: lua sqlite3 gzip grep mawk dash xmlwf fib tak mutual tree leaf indirect sort (default: all). The native build is clang-19's full LTO
# with the same -O2, so that the ratio shows the instrumentation alone. PAIRS is at least 9. -i leaves out the instruction
# counts, which callgrind takes on smaller inputs; -c prints these alone. Prints a table.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
pairs=9 counts=1 times=1
while getopts "${work_options}n:ic" option; do
	case $option in
	n) pairs=$OPTARG ;;
	i) counts= ;;
	c) times= ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- lua sqlite3 gzip grep mawk dash xmlwf fib tak mutual tree leaf indirect sort
open_work waymark-bench
fetch=$here/../../scripts/fetch-source.sh
export WAYMARK_OUT=$work LC_ALL=C
cpu=$(($(nproc) - 1))
flags='-O2 -gline-tables-only -gdwarf-4'
native="clang-19 -flto -fuse-ld=lld"

clang-19 -O2 "$here/pairs.c" -o "$work/pairs"

build_with() { # PROGRAM native|waymark
	local cc dir=$work/$1-$2 source
	[ "$2" = native ] && cc=$native || cc="$waymark cc"
	is_built "$dir" "$2" && return
	rm -rf "$dir"
	case $1 in
	lua)
		source=$("$fetch" lua5.4) && cp -a "$source" "$dir"
		for patch in 0002-lua-modules-paths 0001-build-system; do
			patch -R -s -p1 -d "$dir" -i debian/patches/$patch.patch
		done
		make -C "$dir/src" -j 2 linux CC="$cc -std=gnu99" MYCFLAGS="$flags" AR='llvm-ar-19 rcu' RANLIB=llvm-ranlib-19
		;;
	sqlite3)
		source=$("$fetch" sqlite3) && cp -a "$source" "$dir"
		(cd "$dir" && ./configure --disable-shared CC="$cc" CFLAGS="$flags" && make -j 2 sqlite3.c shell.c)
		# shellcheck disable=SC2086
		(cd "$dir" && $cc $flags -DSQLITE_THREADSAFE=1 -I. sqlite3.c shell.c -lm -ldl -lpthread -o sqlite3.bench)
		;;
	gzip | grep)
		source=$("$fetch" "$1") && cp -a "$source" "$dir"
		(cd "$dir" && ./configure --disable-nls CC="$cc" CFLAGS="$flags" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 &&
			make -j 2 ACLOCAL=: AUTOMAKE=: AUTOCONF=: AUTOHEADER=: MAKEINFO=: HELP2MAN=:)
		;;
	mawk | dash)
		source=$("$fetch" "$1") && cp -a "$source" "$dir"
		(cd "$dir" && ./configure CC="$cc" CFLAGS="$flags" && make -j 2)
		;;
	xmlwf)
		source=$("$fetch" expat) && cp -a "$source/expat" "$dir"
		(cd "$dir" && ./buildconf.sh &&
			./configure --disable-shared --without-docbook --without-tests --without-examples CC="$cc" CFLAGS="$flags" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 &&
			make -j 2)
		;;
	*)
		mkdir "$dir"
		# shellcheck disable=SC2086
		$cc $flags -idirafter "$here/../../include" "$here/calls.c" -o "$dir/calls"
		;;
	esac
	touch "$dir/.built"
}

# Prints the command of a program, with its full or its small input.
command_of() { # PROGRAM native|waymark full|small
	local dir=$work/$1-$2 small=$3
	pick() { [ "$small" = small ] && echo "$1" || echo "$2"; }
	case $1 in
	lua) echo "$dir/src/lua $here/work.lua $(pick 1 300)" ;;
	sqlite3) echo "$dir/sqlite3.bench :memory:" ;;
	gzip) echo "$dir/gzip -c $work/text.$(pick small big)" ;;
	grep) echo "$dir/src/grep -ciE (a|b)+[a-z]*_(x|y|z)|int.*return $(pick "$work/text.small" "$(printf "$work/text.big %.0s" 1 2 3 4 5 6 7)")" ;;
	mawk) echo "$dir/mawk -f $here/work.awk $(pick "$work/text.small" "$work/text.big")" ;;
	dash) echo "$dir/src/dash $here/work-dash.sh $(pick 3000 300000)" ;;
	xmlwf) echo "$dir/xmlwf/xmlwf $(pick "$work/small.xml" "$work/big.xml")" ;;
	fib) echo "$dir/calls fib $(pick 22 42)" ;;
	tak) echo "$dir/calls tak $(pick 18 33)" ;;
	mutual) echo "$dir/calls mutual $(pick 1000 7000000)" ;;
	tree) echo "$dir/calls tree $(pick 3000 4000000)" ;;
	leaf) echo "$dir/calls leaf $(pick 100000 400000000)" ;;
	indirect) echo "$dir/calls indirect $(pick 100000 120000000)" ;;
	sort) echo "$dir/calls sort $(pick 20 6000)" ;;
	esac
}

# Text to work on: C source, which every Debian has through its headers.
cat /usr/include/*.h /usr/include/linux/*.h 2>/dev/null | head -c 4000000 >"$work/text.small.all"
head -c 300000 "$work/text.small.all" >"$work/text.small"
for _ in 1 2 3 4 5; do cat "$work/text.small.all"; done >"$work/text.big"
write_xml() { # ITEMS
	echo '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE doc [<!ENTITY e "an entity">]><doc>'
	seq "$1" | sed 's,.*,<item id="n&" kind="beta"><name>alpha \&amp; eta</name><!-- & --><v a="&" b='"'gamma'"'>&</v>\&e;<![CDATA[x < y]]></item>,'
	echo '</doc>'
}
write_xml 4000 >"$work/small.xml"
write_xml 400000 >"$work/big.xml"
sed 's/ROWS/3000/' "$here/work.sql" >"$work/work.small.sql"
sed 's/ROWS/300000/' "$here/work.sql" >"$work/work.full.sql"

# Output goes through a pipe: grep stops at the first match when it writes to /dev/null.
instructions() { # COMMAND...
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/log" "$@" <"${PAIRS_INPUT:-/dev/null}" |
		cat >/dev/null
	sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log"
}

[ -n "$counts" ] && command -v valgrind >/dev/null || counts=
[ -z "$times" ] || printf '%-18s %8s %8s   %6s   %s\n' program 'native' 'waymark' 'ratio' 'spread of ratios (middle half)'
for program; do
	for kind in native waymark; do
		build_with "$program" $kind >"$work/log" 2>&1 || { tail -n 20 "$work/log"; echo "$program: does not build ($kind)"; continue 2; }
	done
	unset PAIRS_INPUT
	[ "$program" = sqlite3 ] && export PAIRS_INPUT=$work/work.full.sql
	# shellcheck disable=SC2046 # commands without blanks inside words
	set -f
	[ -n "$times" ] || printf '%-18s' "$program"
	[ -z "$times" ] || "$work/pairs" "$program" "$pairs" "$cpu" -- $(command_of "$program" native full) -- $(command_of "$program" waymark full)
	if [ -n "$counts" ]; then
		[ "$program" = sqlite3 ] && PAIRS_INPUT=$work/work.small.sql
		a=$(instructions $(command_of "$program" native small))
		b=$(instructions $(command_of "$program" waymark small))
		[ -n "$a" ] && [ -n "$b" ] && awk "BEGIN { printf \"   instructions %.3f\", $b / $a }"
	fi
	set +f
	echo
done
