# Sourced by size.sh and table.sh: programs as their own build systems make them, natively and with Waymark.
#
# The caller has opened work (../../tests/programs/work.sh). A build is $work/PROGRAM-native or $work/PROGRAM-waymark.
# shellcheck shell=bash

contexts_fetch=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/../../scripts/fetch-source.sh

make_program() { # PROGRAM CC: in the folder of its source
	local cc=$2 flags='-O2 -gline-tables-only -gdwarf-4' tools='AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19'
	# shellcheck disable=SC2086 # tools and flags are lists of words
	case $1 in
	redis) make -j "$jobs" -C src redis-server MALLOC=libc OPTIMIZATION=-O2 DEBUG="$flags" CC="$cc" $tools ;;
	jq)
		autoreconf -fi &&
			./configure --disable-maintainer-mode --disable-docs --enable-shared --disable-static CC="$cc" CFLAGS="$flags" $tools &&
			make -j "$jobs"
		;;
	nginx)
		./configure --with-cc="$cc" --with-cc-opt="$flags" --with-ld-opt=-Wl,-E --with-threads --with-http_v2_module &&
			make -j "$jobs"
		;;
	git)
		make -j "$jobs" git CC="$cc" CFLAGS="$flags" AR=llvm-ar-19 NO_CURL=1 NO_GETTEXT=1 NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1
		;;
	sqlite3)
		./configure --disable-shared CC="$cc" CFLAGS="$flags" && make -j "$jobs" sqlite3.c shell.c &&
			$cc $flags -DSQLITE_THREADSAFE=1 -I. sqlite3.c shell.c -lm -ldl -lpthread -o sqlite3.bench
		;;
	lua)
		patch -R -s -p1 -i debian/patches/0002-lua-modules-paths.patch &&
			patch -R -s -p1 -i debian/patches/0001-build-system.patch &&
			make -C src -j "$jobs" linux CC="$cc -std=gnu99" MYCFLAGS="$flags" AR='llvm-ar-19 rcu' RANLIB=llvm-ranlib-19
		;;
	esac
}

build_with() { # PROGRAM native|waymark
	local dir=$work/$1-$2 cc source package=$1
	[ "$2" = native ] && cc='clang-19 -flto -fuse-ld=lld -Wno-unused-command-line-argument' || cc="$waymark cc"
	is_built "$dir" "$2" && return
	[ "$1" = lua ] && package=lua5.4
	rm -rf "$dir"
	{
		source=$("$contexts_fetch" "$package") && cp -a "$source" "$dir" && (cd "$dir" && make_program "$1" "$cc")
	} >"$dir.log" 2>&1 || { { tail -n 20 "$dir.log"; echo "$1: does not build ($2), see $dir.log"; } >&2; return 1; }
	touch "$dir/.built"
}

files_of() { # PROGRAM: what counts of its build
	case $1 in
	redis) echo src/redis-server ;;
	jq) echo .libs/libjq.so.1.0.4 .libs/jq ;;
	nginx) echo objs/nginx ;;
	git) echo git ;;
	sqlite3) echo sqlite3.bench ;;
	lua) echo src/lua ;;
	esac
}
