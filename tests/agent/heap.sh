#!/bin/sh
# heap.sh BUILD SOURCES - the heap client under the agent: a program that gcc and clang have built counts its own allocations by the
# stack of names that it keeps, and `waymark report` must say the same.
set -u
sources=$2
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"

found=
for c in gcc clang-19; do
	command -v $c >/dev/null || continue
	found=yes
	# The last one's segments do not begin pages, and have gaps between them.
	for options in -O0 -O1 -O2 -O3 '-O2 -fno-pie -no-pie' '-O2 -fno-plt' \
		'-O1 -fuse-ld=lld -Wl,-z,max-page-size=65536'; do
		[ $c = clang-19 ] || [ "${options#*lld}" = "$options" ] || continue
		# shellcheck disable=SC2086
		$c -w $options -o program "$sources/heap.c" || { fail "$c $options: build"; continue; }
		rm -f run.wmk
		"$waymark" run -q --heap --encode -o "$dir/run.wmk" ./program >counted.txt || fail "$c $options: status $?"
		for metric in allocations bytes leaked; do
			awk -v m=$metric '$1 == m { print $2, $3 }' counted.txt | sort >want.txt
			# What the C library takes for itself is not the program's to count.
			"$waymark" report --format folded --metric $metric run.wmk 2>notes.txt | grep ';counted;' | sort >got.txt
			cmp -s want.txt got.txt || { fail "$c $options: $metric"; diff want.txt got.txt | head -n 6; }
		done
		"$waymark" report --format folded --metric allocations run.wmk | grep -F '[lost]' && fail "$c $options: lost contexts"
	done
done
[ -n "$found" ] || { echo "neither gcc nor clang-19 is there"; exit 77; }
finish
