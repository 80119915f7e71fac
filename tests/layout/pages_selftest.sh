#!/bin/sh
# pages_selftest.sh LINKS-SH NAMES-PY - each finds what is wrong in a tree made for it, and nothing where nothing is.
set -eu
links=$1 names=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"

# finds EXPECTED-FILE COMMAND...: fails, and says that
finds() {
	expected=$1
	shift
	"$@" >found && { echo "$1 finds nothing"; exit 1; }
	diff -u "$expected" found || exit 1
}

mkdir -p docs/images src/base/deep tests/base tests/random bench
touch LICENSE docs/images/a.svg src/base/vec.c src/base/vec.h src/base/deep/x.c
cat >README.md <<'END'
A [page](docs/page.md), [LICENSE](LICENSE), [elsewhere](https://example.org/src/none.c), `src/base/vec.c`. A folder (src/base/), both of
src/base/vec.{c,h}, all of src/base/*.c and src/<name>/vec.c. None of the tree's: /usr/src/none, other/src/none.c, $PWD/src/none, mysrc/none.
END
echo '![picture](images/a.svg) [back](../README.md#part)' >docs/page.md
"$links" . >found || { cat found; echo "links.sh: the good tree has findings"; exit 1; }
echo '[source](../src/base/vec.c) [none](none.md) and src/base/none.c,' >docs/page.md
echo 'src/base/{vec,none}.h, then src/none/*.c. ./tests/none src/<name>/none.c' >CONTRIBUTING.md
cat >expected <<'END'
docs/page.md: not installed: ../src/base/vec.c
docs/page.md: no such file: none.md
CONTRIBUTING.md:1: no such path: src/base/none.h
CONTRIBUTING.md:1: no such path: src/none/*.c
CONTRIBUTING.md:1: no such path: tests/none
CONTRIBUTING.md:1: no such path: src/*/none.c
docs/page.md:1: no such path: src/base/none.c
END
finds expected "$links" .

mkdir -p build/meson-info
# tests NAME SUITE[,SUITE] ...
tests() {
	while [ $# -gt 0 ]; do
		printf '%s{"name": "%s", "suite": ["p:%s"]}\n' "$comma" "$1" "$(echo "$2" | sed 's/,/", "p:/g')"
		comma=,
		shift 2
	done
}
comma='['
{ tests base base base-vec-2 base,nosan random-1 twice,random && echo ']'; } >build/meson-info/intro-tests.json
"$names" build tests >found || { cat found; echo "names.py: good tests have findings"; exit 1; }
comma='['
{
	tests 'base vec' base Base base base_vec base vec base other other base-a base,random base-b nosan base-c base base-c base && echo ']'
} >build/meson-info/intro-tests.json
cat >expected <<'END'
base vec: not lower-case words with hyphens
Base: not lower-case words with hyphens
base_vec: not lower-case words with hyphens
vec: in suite base, but not named by it
other: suites are not one folder of tests: other
base-a: suites are not one folder of tests: base random
base-b: suites are not one folder of tests: none
base-c: 2 tests
END
finds expected "$names" build tests
