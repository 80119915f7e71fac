#!/bin/bash
# pads.sh SOURCE-DIR WORK-DIR LIBRARY INCLUDES - the landing pads that g++ and clang++ name in their assembly against those that
# eh_landing_pads finds: the third of each four numbers between the labels of a call-site table.
set -eu
sources=$1 work=$2 library=$3 root=$4
mkdir -p "$work"

for compiler in g++ clang++-19; do
	cc=gcc
	[ $compiler = g++ ] || cc=clang-19
	for flags in -O0 "-O2 -fno-pie" "-O3 -ffunction-sections"; do
		link=
		[ "$flags" != "-O2 -fno-pie" ] || link=-no-pie
		$compiler $flags -Dmain=shapes_main -I"$sources/.." -S "$sources/shapes_exceptions.cpp" -o "$work/shapes.s"
		awk '{ print }
			/^\.(LLSDACSB|Lcst_begin)[A-Z]*[0-9]+:/ { inside = 1; n = 0; next }
			/^\.(LLSDACSE|Lcst_end)[A-Z]*[0-9]+:/ { inside = 0 }
			inside && ($1 == ".uleb128" || $1 == ".byte") && ++n % 4 == 3 && $2 ~ /^\.L/ {
				sub(/-.*/, "", $2)
				pads[$2] = 1
			}
			END {
				print "\t.section expected_pads,\"aw\",@progbits"
				for (pad in pads)
					print "\t.quad " pad
			}' "$work/shapes.s" >"$work/marked.s"
		$cc -c "$work/marked.s" -o "$work/marked.o"
		$cc -O1 -c -D_GNU_SOURCE -I"$root/src" -I"$root/tests" "$sources/test_pads.c" -o "$work/test.o"
		$compiler $link "$work/test.o" "$work/marked.o" "$library" -o "$work/program"
		echo "$compiler $flags"
		"$work/program"
	done
done
