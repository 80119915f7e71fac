#!/bin/sh
# build.sh WAYMARK make|cmake|meson SOURCE-DIR WHAT - builds the project here with `waymark cc --wm=WHAT` in place of the
# compiler, the way a user of that build system would, and decodes what it prints (contexts) and has counted (paths). Exit
# status 77: the build system is not installed.
set -eu
# The sanitized command alone where there is one: what it makes is the same (tests/support/twice.sh).
waymark=${WAYMARK_SANITIZED:+$WAYMARK_SANITIZED/waymark}
waymark=${waymark:-$(realpath "$1")} system=$2 source=$3 what=$4
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT MAKEFLAGS CFLAGS CXXFLAGS LDFLAGS LD_LIBRARY_PATH
cp -r "$source/tests/buildsystems/project" "$place/project"
cd "$place/project"

command -v "$system" >/dev/null || { echo "$system is not installed"; exit 77; }
cc="$waymark cc --wm=$what" cxx="$waymark c++ --wm=$what"
cc_word="$waymark-cc --wm=$what" cxx_word="$waymark-c++ --wm=$what"
if [ "$what" = contexts ]; then # the default
	cc="$waymark cc" cxx="$waymark c++" cc_word="$waymark-cc" cxx_word="$waymark-c++"
fi
{
	case $system in
	make)
		make CC="$cc" CXX="$cxx"
		program=./shapes
		;;
	cmake)
		CC="$cc_word" CXX="$cxx_word" cmake -B build -DCMAKE_C_FLAGS="-fno-inline" -DCMAKE_CXX_FLAGS="-fno-inline" \
			-DCMAKE_BUILD_TYPE=RelWithDebInfo
		cmake --build build
		program=build/shapes
		;;
	meson)
		CC="$cc" CXX="$cxx" CFLAGS=-fno-inline CXXFLAGS=-fno-inline meson setup build --buildtype=debugoptimized
		ninja -C build
		program=build/shapes
		;;
	esac
} >log 2>&1 || { cat log; exit 1; }

"$program" >tokens
if [ "$what" != paths ]; then
	"$waymark" decode --folded tokens >decoded
	cat >expected <<'END'
start main;tell
square main;each;(anonymous namespace)::draw_one(int);(anonymous namespace)::square::draw() const;tell
circle main;each;(anonymous namespace)::draw_one(int);(anonymous namespace)::circle::draw() const;tell
END
	diff -u expected decoded
fi
if [ "$what" != contexts ]; then
	"$waymark" paths --format=lcov ./waymark-shapes-*.wmk | sed -n 's/^FNDA:\([0-9]*\),/\1 /p' | LC_ALL=C sort >counted # not destructors
	cat >expected <<'END'
1 _ZNK12_GLOBAL__N_16circle4drawEv
1 _ZNK12_GLOBAL__N_16square4drawEv
1 each
1 main
2 _ZN12_GLOBAL__N_18draw_oneEi
3 tell
END
	grep -E 'draw|each|main|tell' counted | diff -u expected -
fi
