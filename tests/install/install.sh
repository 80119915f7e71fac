#!/bin/sh
# install.sh BUILD-DIR SOURCE-DIR - `meson install` into an empty place, then a program built, run and decoded with what
# is there: bin/waymark must find its own header, pass and runtime, wherever the tree is put.
set -eu
build=$1 source=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT LD_LIBRARY_PATH
cd "$place"

fail() {
	echo "install: $*" >&2
	exit 1
}

DESTDIR=$place/dest meson install -C "$build" --no-rebuild >"$place/log" 2>&1 || { cat "$place/log"; fail "meson install"; }
# The tree is moved: nothing may depend on the prefix it was configured for.
prefix=$(dirname "$(dirname "$(find "$place/dest" -path '*/bin/waymark')")")
mv "$prefix" "$place/moved"
prefix=$place/moved
waymark=$prefix/bin/waymark
private=$(cd "$prefix" && find lib* -name waymark -type d)
for file in include/waymark.h "$private"/waymark-pass.so "$private"/waymark-rt.o "$private"/waymark-keep.o "$private"/libwaymark-trace.a "$private"/libwaymark-rt.so.3 \
	"$private"/libwaymark-heap.so share/man/man1/waymark.1 share/man/man1/waymark-core.1 \
	share/bash-completion/completions/waymark share/zsh/site-functions/_waymark share/waymark/gdb/waymark.py \
	share/doc/waymark/LICENSE share/doc/waymark/README.md share/doc/waymark/examples/expr/expr.c; do
	[ -f "$prefix/$file" ] || fail "$file is not installed"
done

# What messages, manual pages and README name is there: files of docs/ and those that README links to.
docs=$prefix/share/doc/waymark
for command in core decode graph ir merge paths report residual run tune; do
	"$waymark" $command --help
done >help.txt 2>&1
{
	cat help.txt "$prefix"/share/man/man1/*.1 | grep -oE '(docs|examples|scripts|bench|tests)/[A-Za-z0-9_./-]*[A-Za-z0-9]'
	strings -n 6 "$waymark" | grep -oE '(docs|examples|scripts)/[A-Za-z0-9_./-]*\.(md|sh|c|py)'
	# Not https: of other places.
	grep -oE '\]\([A-Za-z][^):#]*' "$docs/README.md" | sed 's/^](//; /^https$/d'
	grep -ohE '\]\([A-Za-z][^):#]*' "$docs"/docs/*.md | sed 's/^](//; /^https$/d; s|^|docs/|'
} | sort -u >named.txt
grep -qx docs/format.md named.txt || fail "no file of docs/ is named"
while read -r file; do
	[ -e "$docs/$file" ] || fail "$file is named, and not installed"
done <named.txt
rm help.txt named.txt

# gdb finds the command by itself in the directory of its own data.
if command -v gdb >/dev/null && [ -d /usr/share/gdb/python/gdb ]; then
	cp -r /usr/share/gdb "$place/gdb-data"
	ln -s "$prefix/share/gdb/python/gdb/command/waymark.py" "$place/gdb-data/python/gdb/command/waymark.py"
	gdb -q -nx -batch -data-directory "$place/gdb-data" -ex 'waymark path' >gdb.txt 2>&1 || true
	grep -q 'waymark: nothing runs and no core is open' gdb.txt || fail "(gdb) waymark path: $(cat gdb.txt)"
	rm gdb.txt
fi

mkdir "$place/work"
cd "$place/work"
"$waymark" cc -O1 -o hello "$source/tests/install/hello.c" || fail "waymark cc"
./hello >tokens || fail "hello: exit status $?"
"$waymark" decode --folded tokens >decoded || fail "waymark decode"
cat >expected <<'END'
direct main;tell
left main;left;tell
sorted main;[qsort];compare;tell
END
diff -u expected decoded || fail "the decoded contexts differ"

"$waymark" run --heap --quiet --output=heap.wmk ./hello >/dev/null || fail "waymark run --heap"
"$waymark" report --format=folded heap.wmk >report || fail "waymark report"
grep -qx 'main;\[malloc\] 100' report || { cat report; fail "the 100 bytes of main are not in the report"; }

# Build systems find the header and the compilers.
flags=$(PKG_CONFIG_PATH=$prefix/share/pkgconfig pkg-config --cflags waymark) || fail "waymark.pc"
# shellcheck disable=SC2086 # flags are words
clang-19 $flags -fsyntax-only "$source/tests/install/hello.c" ||
	fail "waymark.pc does not find <waymark.h>"
cp "$source/tests/install/hello.c" .
# has_contexts NAME: the built program has its contexts
has_contexts() {
	./"$1" >tokens || fail "$1: exit status $?"
	"$waymark" decode --folded tokens >decoded || fail "$1: waymark decode"
	diff -u expected decoded || fail "$1: the decoded contexts differ"
}
cat >meson.build <<'END'
project('hello', 'c')
executable('hello', 'hello.c')
END
(
	PATH=$prefix/bin:$PATH
	meson setup --native-file "$prefix/share/waymark/meson/waymark.ini" by-meson && ninja -C by-meson
) >log 2>&1 || { cat log; fail "a project of Meson"; }
has_contexts by-meson/hello
if command -v cmake >/dev/null; then
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(hello C)
find_package(Waymark REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE Waymark::Waymark)
END
	{
		cmake -G Ninja -S . -B by-cmake -DCMAKE_TOOLCHAIN_FILE="$prefix/share/waymark/cmake/toolchain.cmake" &&
			ninja -C by-cmake
	} >log 2>&1 || { cat log; fail "a project of CMake"; }
	has_contexts by-cmake/hello
fi
