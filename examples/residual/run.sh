#!/bin/bash
# run.sh - the worked example of docs/residual-example.md, from scratch: counts the paths that sed's own tests run, builds sed
# again for the field with those as its plan, lets it do what people do with sed, and shows the paths that no test ran.
#
#   run.sh [-b BUILD-DIR] [-w WORK-DIR]
#
# BUILD-DIR: where Waymark is built (build). WORK-DIR: made anew (BUILD-DIR/residual-example). A few minutes at most, most
# of them sed's configure and tests. Exit status 77: the source of sed cannot be had here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$top/build work=
while getopts b:w: option; do
	case $option in
	b) build=$OPTARG ;;
	w) work=$OPTARG ;;
	*) exit 2 ;;
	esac
done
build=$(cd "$build" && pwd)
work=${work:-$build/residual-example}
export LC_ALL=C.UTF-8
unset CC CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS WAYMARK_OUT WAYMARK_LIMIT
PATH=$build:$PATH

source=$("$top/scripts/fetch-source.sh" sed) || exit $?
rm -rf "$work"
mkdir -p "$work/runs/tests" "$work/runs/added" "$work/runs/field"
work=$(cd "$work" && pwd)
cd "$work"

say() { printf '\n== %s\n' "$*"; }
fail() {
	echo "residual example: $*" >&2
	exit 1
}
quietly() { # shows what the command said only when it fails
	"$@" >log 2>&1 || { tail -n 30 log >&2; fail "$*"; }
}
show() { # the command and what it says, with the names of files as seen from here; its exit status is kept
	echo "\$ $*"
	local status=0
	"$@" >output 2>&1 || status=$?
	sed "s|$work/||g" output
	return $status
}

say "1. sed, built to count paths"
cp -a "$source" tested
cd tested
# DWARF 4: valgrind, which some of sed's tests use where it is installed, does not read clang's DWARF 5 everywhere.
echo '$ ./configure CC="waymark cc --wm=paths" CFLAGS="-gdwarf-4 -O2" && make'
quietly ./configure CC="waymark cc --wm=paths" CFLAGS="-gdwarf-4 -O2" --disable-nls --disable-acl --without-selinux \
	--disable-dependency-tracking
cp -a . ../field
quietly make -j "$(nproc)" SUBDIRS=.

say "2. Its own tests"
echo '$ WAYMARK_OUT=runs/tests make check && waymark merge -o tested.wmk runs/tests/*'
# A few tests cannot pass in every place (one wants to be refused by a directory, which root is not): sed's matter.
WAYMARK_OUT=$work/runs/tests make check SUBDIRS=. >../check.log 2>&1 || true
grep -E '^(FAIL:|# (PASS|SKIP|FAIL):)' ../check.log
cd ..
waymark merge -o tested.wmk runs/tests/waymark-sed-*
rm -r runs/tests # some 200 MB
show waymark paths tested.wmk --top=1

say "3. One function of it, as line and branch coverage see it"
show waymark paths tested.wmk --function=match_address_p --by=function
echo
waymark paths tested.wmk --function=match_address_p --format=lcov -o match_address_p.info
echo '$ waymark paths tested.wmk --function=match_address_p --format=lcov | grep -E "^(LF|LH|BRF|BRH)"'
grep -E '^(LF|LH|BRF|BRH)' match_address_p.info
! grep -qE '^(DA|BRDA):.*,0$' match_address_p.info || fail "sed's tests left a line or a branch of match_address_p out"

say "4. sed for the field"
cd field
echo '$ make CC="waymark cc --wm=paths --wm-plan=tested.wmk"'
quietly make -j "$(nproc)" SUBDIRS=. CC="waymark cc --wm=paths --wm-plan=$work/tested.wmk"
cd ..
echo '$ WAYMARK_OUT=runs/field field.sh && waymark merge -o field.wmk runs/field/*'
WAYMARK_OUT=$work/runs/field "$here/field.sh" "$work/field/sed/sed" "$work/field"
waymark merge -o field.wmk runs/field/waymark-sed-*
rm -r runs/field

say "5. What ran in the field and in no test"
show waymark residual --tested tested.wmk --field field.wmk --top=3 && fail "nothing is new in the field"
sed -n '/^New/p' output | grep -q 'New in the field: [1-9]' || fail "waymark residual said no number"

say "6. ... in functions of which the tests covered every line and every outcome of every branch"
printf '%-20s %8s %10s %14s %14s\n' function lines branches 'paths tested' 'new in field'
waymark residual --tested tested.wmk --field field.wmk --top=all -o residual.txt || true
sed '/^Hot paths/,$d' residual.txt | awk '/^ *[0-9]+\. .* times? / { print $(NF - 1) }' | sort | uniq -c |
	while read -r new name; do
		waymark paths tested.wmk --function="$name" --by=function >one 2>&1 || continue
		awk -v name="$name" -v new="$new" '
			/^  (lines|branches|paths) +[0-9]+ (ran )?of / { n[$1] = $2; all[$1] = $1 == "paths" ? $5 : $4 }
			END {
				if (n["lines"] && n["lines"] == all["lines"] && n["branches"] == all["branches"])
					printf "%-20s %8s %10s %14d %14d\n", name, n["lines"] "/" all["lines"],
						n["branches"] "/" all["branches"], n["paths"], new
			}' one
	done | tee covered
grep -q '^match_address_p ' covered || fail "match_address_p is not among them"

say "7. The one in match_address_p"
show waymark residual --tested tested.wmk --field field.wmk --function=match_address_p && fail "no path of match_address_p is new"

say "8. A test for it"
echo '$ cat addr-regex-plus.sh'
sed -n "/^expect '/p" "$here/addr-regex-plus.sh"
WAYMARK_OUT=$work/runs/added "$here/addr-regex-plus.sh" "$work/tested/sed/sed"
waymark merge -o tested-more.wmk tested.wmk runs/added/*
show waymark residual --tested tested-more.wmk --field field.wmk --function=match_address_p ||
	fail "the path is still new"

say "9. What it leads to: the same range, with lines 4 to 7 skipped by a branch"
for script in '4,7b; /^2$/,4p' '4,7b; /^2$/,+2p'; do
	echo "\$ seq 12 | sed -n '$script'"
	seq 12 | WAYMARK_OUT=$work/runs/added tested/sed/sed -n "$script"
done
