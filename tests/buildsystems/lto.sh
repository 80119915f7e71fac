#!/bin/sh
# lto.sh WAYMARK cmake|meson - a project that asks for LTO, and checks first whether the compiler has it, is built with `waymark cc`: CMake's
# check_ipo_supported, Meson's b_lto with full and thin LTO. Exit status 77: the build system is not installed.
set -eu
waymark=${WAYMARK_SANITIZED:+$WAYMARK_SANITIZED/waymark}
waymark=${waymark:-$(realpath "$1")} system=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT MAKEFLAGS CFLAGS CXXFLAGS LDFLAGS LD_LIBRARY_PATH
cd "$place"
command -v "$system" >/dev/null || { echo "$system is not installed"; exit 77; }

cat >main.c <<'END'
int part(void);
int main(void) { return part(); }
END
cat >part.c <<'END'
#include <stdio.h>
#include <waymark.h>
int part(void);
__attribute__((noinline)) int part(void)
{
	char token[WM_TOKEN_MAX];
	wm_token(wm_capture(), token, sizeof token);
	return puts(token) < 0;
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.9)
project(lto C CXX)
include(CheckIPOSupported)
check_ipo_supported(LANGUAGES C CXX)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION TRUE)
add_library(part STATIC part.c)
add_executable(lto main.c)
target_link_libraries(lto part)
END
cat >meson.build <<'END'
project('lto', 'c')
executable('lto', 'main.c', link_with: static_library('part', 'part.c'))
END

# runs DIRECTORY
runs() {
	"$1/lto" >tokens
	"$waymark" decode --folded --exe "$1/lto" tokens >decoded
	echo 'main;part' | diff -u - decoded || { cat log; exit 1; }
}
case $system in
cmake)
	{
		CC="$waymark-cc" CXX="$waymark-c++" cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo
		cmake --build build --verbose
	} >log 2>&1 || { cat log; exit 1; }
	grep -q -e ' -flto' log || { echo "LTO was not asked for"; cat log; exit 1; }
	runs build
	;;
meson)
	for mode in default thin; do
		{
			CC="$waymark cc" AR="$waymark-llvm-ar" meson setup $mode --buildtype=debugoptimized -Db_lto=true -Db_lto_mode=$mode
			ninja -v -C $mode
		} >log 2>&1 || { cat log; exit 1; }
		grep -q -e ' -flto' log || { echo "LTO was not asked for"; cat log; exit 1; }
		runs $mode
	done
	;;
esac
