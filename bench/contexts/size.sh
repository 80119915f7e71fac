#!/bin/bash
# What contexts cost in size: the .text of programs and libraries, built natively and with Waymark, and how their calls are encoded.
#
#   bench/contexts/size.sh [-b BUILD-DIR] [-w WORK-DIR] [PROGRAM...]
#
# PROGRAM: redis jq nginx git sqlite3 lua (default: all). The native build is clang-19's full LTO with the same -O2. What the build
# system of a program builds is what counts: redis-server and nginx are linked with -rdynamic, jq is a program of libjq.so, the
# others are one file. -w keeps the builds. Needs libonig-dev, libpcre2-dev, zlib1g-dev, autoconf, automake, libtool, bison, flex.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../tests/programs/work.sh
. "$here/../../tests/programs/work.sh"
while getopts "$work_options" option; do
	work_option "$option"
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- redis jq nginx git sqlite3 lua
open_work waymark-size
fetch=$here/../../scripts/fetch-source.sh
export WAYMARK_OUT=$work LC_ALL=C
flags='-O2 -gline-tables-only -gdwarf-4'
tools='AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19'

build_with() { # PROGRAM native|waymark
	local dir=$work/$1-$2 cc source package=$1
	[ "$2" = native ] && cc='clang-19 -flto -fuse-ld=lld -Wno-unused-command-line-argument' || cc="$waymark cc"
	is_built "$dir" "$2" && return
	[ "$1" = lua ] && package=lua5.4
	source=$("$fetch" "$package")
	rm -rf "$dir"
	cp -a "$source" "$dir"
	cd "$dir"
	# shellcheck disable=SC2086 # tools and flags are lists of words
	case $1 in
	redis) make -j 2 -C src redis-server MALLOC=libc OPTIMIZATION=-O2 DEBUG="$flags" CC="$cc" $tools ;;
	jq)
		autoreconf -fi
		./configure --disable-maintainer-mode --disable-docs --enable-shared --disable-static CC="$cc" CFLAGS="$flags" $tools
		make -j 2
		;;
	nginx)
		./configure --with-cc="$cc" --with-cc-opt="$flags" --with-ld-opt=-Wl,-E --with-threads --with-http_v2_module
		make -j 2
		;;
	git)
		make -j 2 git CC="$cc" CFLAGS="$flags" AR=llvm-ar-19 NO_CURL=1 NO_GETTEXT=1 NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1
		;;
	sqlite3)
		./configure --disable-shared CC="$cc" CFLAGS="$flags"
		make -j 2 sqlite3.c shell.c
		$cc $flags -DSQLITE_THREADSAFE=1 -I. sqlite3.c shell.c -lm -ldl -lpthread -o sqlite3.bench
		;;
	lua)
		patch -R -s -p1 -i debian/patches/0002-lua-modules-paths.patch
		patch -R -s -p1 -i debian/patches/0001-build-system.patch
		make -C src -j 2 linux CC="$cc -std=gnu99" MYCFLAGS="$flags" AR='llvm-ar-19 rcu' RANLIB=llvm-ranlib-19
		;;
	esac
	touch "$dir/.built"
}

files_of() { # PROGRAM
	case $1 in
	redis) echo src/redis-server ;;
	jq) echo .libs/libjq.so.1.0.4 .libs/jq ;;
	nginx) echo objs/nginx ;;
	git) echo git ;;
	sqlite3) echo sqlite3.bench ;;
	lua) echo src/lua ;;
	esac
}

text_of() { # FILE
	llvm-size-19 -A "$1" | awk '$1 == ".text" { print $2 }'
}

printf '%-14s %9s %9s   %5s   %s\n' file 'native' 'waymark' 'ratio' 'edges (free), pushes: cycles, foreign, pointers'
for program; do
	for kind in native waymark; do
		(build_with "$program" $kind) >"$work/log.$program" 2>&1 || { tail -n 20 "$work/log.$program"; echo "$program: does not build ($kind)"; continue 2; }
	done
	for file in $(files_of "$program"); do
		a=$(text_of "$work/$program-native/$file")
		b=$(text_of "$work/$program-waymark/$file")
		awk -v name="${file##*/}" -v a="$a" -v b="$b" 'BEGIN { printf "%-14s %9d %9d   %5.2f   ", name, a, b, b / a }'
		"$waymark" graph --format=json "$work/$program-waymark/$file" | tr ',{' '\n\n' | tr -d '" ' |
			awk -F: '{ n[$1] = $2 } END { printf "%d (%d), %d, %d, %d\n", n["edges"], n["zero_edges"], n["back_edges"] + n["cut_edges"], n["foreign_sites"], n["indirect_sites"] }'
	done
done
