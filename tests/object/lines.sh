#!/bin/bash
# lines.sh SHOW_LINES SOURCES - chains of inlined functions of programs that gcc and clang have built in many ways (levels, LTO, split DWARF,
# DWARF 4 and 5, dwz, separate debug files) are those of llvm-symbolizer, at each instruction (lines.py).
#
# lines.sh SHOW_LINES SOURCES debian: those of ten programs and libraries of Debian that are installed, at 20,000 instructions each. Their debug
# files come from the packages of `debian_debug`, which are downloaded and not installed; 100 MB.
set -u
show_lines=$(realpath "$1")
sources=$(realpath "$2")
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-lines.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset DEBUGINFOD_URLS
failures=0
debian_debug='libc6-dbg binutils-x86-64-linux-gnu-dbg libbinutils-dbg'
debian_files='/usr/bin/x86_64-linux-gnu-objdump /usr/bin/x86_64-linux-gnu-as /usr/bin/x86_64-linux-gnu-ld.bfd /usr/bin/x86_64-linux-gnu-ld.gold
/usr/bin/x86_64-linux-gnu-readelf /usr/bin/x86_64-linux-gnu-gprof /usr/bin/x86_64-linux-gnu-nm /lib/x86_64-linux-gnu/libc.so.6
/lib/x86_64-linux-gnu/libm.so.6 /lib/x86_64-linux-gnu/libbfd-2.40-system.so /lib/x86_64-linux-gnu/libopcodes-2.40-system.so'

for tool in gcc g++ clang-19 ld.lld-19 objcopy objdump readelf llvm-symbolizer-19 python3; do
	command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done

# compare ARGUMENTS of lines.py
compare() {
	timeout 200 "$sources/lines.py" "$show_lines" "$@" >said.txt 2>&1 || { echo "FAIL: $*"
		failures=$((failures + 1)); }
	tail -20 said.txt
}

if [ "${3-}" = debian ]; then
	# shellcheck disable=SC2086
	apt-get download $debian_debug >/dev/null 2>&1 || { echo "no packages of debug files"
		exit 77; }
	for package in *.deb; do
		dpkg -x "$package" root
	done
	# shellcheck disable=SC2086
	compare -n 20000 -z -d root/usr/lib/debug $debian_files
	exit $((failures > 0))
fi

# build NAME LANGUAGE COMPILER FLAGS: LANGUAGE is c or cxx.
build() {
	local name=$1 language=$2 compiler=$3
	shift 3
	case $language in
	c) $compiler "$@" "$sources/lines_a.c" "$sources/lines_b.c" -o "$name" ;;
	cxx) [ "$compiler" = gcc ] && compiler=g++ || compiler=clang++-19
		$compiler "$@" "$sources/lines_c.cpp" -o "$name" ;;
	esac >built.txt 2>&1 || { echo "FAIL: $compiler $*"
		cat built.txt
		failures=$((failures + 1)); }
}

# Everything at each level in C; C++, which takes longer to build, in some.
while read -r name language compiler flags; do
	# shellcheck disable=SC2086
	build "$name" "$language" "$compiler" -g $flags
	compare "$name"
done <<'END'
c-gcc-1 c gcc -O1
c-gcc-2 c gcc -O2 -ffunction-sections
c-gcc-3 c gcc -O3 -gdwarf-4
c-clang-1 c clang-19 -O1 -gdwarf-4
c-clang-2 c clang-19 -O2
c-clang-3 c clang-19 -O3 -no-pie
c-gcc-lto c gcc -O3 -flto
c-clang-lto c clang-19 -O2 -flto -fuse-ld=lld
c-gcc-split c gcc -O2 -gsplit-dwarf
c-gcc-split-4 c gcc -O1 -gsplit-dwarf -gdwarf-4
c-clang-split c clang-19 -O2 -gsplit-dwarf
c-clang-split-4 c clang-19 -O3 -gsplit-dwarf -gdwarf-4
cxx-gcc-1 cxx gcc -O1 -gsplit-dwarf
cxx-gcc-2 cxx gcc -O2
cxx-gcc-3 cxx gcc -O3 -flto
cxx-clang-1 cxx clang-19 -O1 -gdwarf-4 -gsplit-dwarf
cxx-clang-2 cxx clang-19 -O2
cxx-clang-3 cxx clang-19 -O3 -flto -fuse-ld=lld
END

# dwz: of one file, and of several debug files, what they share in a file of its own.
if command -v dwz >/dev/null; then
	build c-clang-4 c clang-19 -g -gdwarf-4 -O3
	mkdir -p debug/.dwz stripped
	for name in c-gcc-3 c-clang-4 cxx-gcc-2; do
		cp $name z
		dwz z && compare z -g $name
		id=$(readelf -nW $name | awk '/Build ID:/ { print $NF }')
		mkdir -p "debug/.build-id/${id%"${id#??}"}"
		objcopy --only-keep-debug $name "debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
		strip -o stripped/$name $name
	done
	(cd debug && dwz -m .dwz/shared.debug -M /usr/lib/debug/.dwz/waymark-lines.debug .build-id/*/*.debug)
	mv debug/.dwz/shared.debug debug/.dwz/waymark-lines.debug || failures=$((failures + 1))
	for name in c-gcc-3 c-clang-4 cxx-gcc-2; do
		compare stripped/$name -g $name -d debug
	done
else
	echo "without dwz: what it makes was not read"
fi
exit $((failures > 0))
