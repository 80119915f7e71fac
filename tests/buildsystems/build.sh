#!/bin/sh
# build.sh WAYMARK make|cmake|meson SOURCE-DIR - builds the project here with `waymark cc` in place of the compiler, the way a
# user of that build system would, and decodes what it prints. Exit status 77: the build system is not installed.
set -eu
waymark=$(realpath "$1") system=$2 source=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT MAKEFLAGS CFLAGS CXXFLAGS LDFLAGS LD_LIBRARY_PATH
cp -r "$source/tests/buildsystems/project" "$place/project"
cd "$place/project"

command -v "$system" >/dev/null || { echo "$system is not installed"; exit 77; }
{
	case $system in
	make)
		make CC="$waymark cc" CXX="$waymark c++"
		program=./shapes
		;;
	cmake)
		CC="$waymark-cc" CXX="$waymark-c++" cmake -B build -DCMAKE_C_FLAGS="-fno-inline" -DCMAKE_CXX_FLAGS="-fno-inline" \
			-DCMAKE_BUILD_TYPE=RelWithDebInfo
		cmake --build build
		program=build/shapes
		;;
	meson)
		CC="$waymark cc" CXX="$waymark c++" CFLAGS=-fno-inline CXXFLAGS=-fno-inline meson setup build --buildtype=debugoptimized
		ninja -C build
		program=build/shapes
		;;
	esac
} >log 2>&1 || { cat log; exit 1; }

"$program" >tokens
"$waymark" decode --folded tokens >decoded
cat >expected <<'END'
start main;tell
square main;each;(anonymous namespace)::draw_one(int);(anonymous namespace)::square::draw() const;tell
circle main;each;(anonymous namespace)::draw_one(int);(anonymous namespace)::circle::draw() const;tell
END
diff -u expected decoded
