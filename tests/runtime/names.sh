#!/bin/sh
# names.sh BUILD - what programs are linked with defines no name that is not Waymark's, or one of the C library's that they stand in for:
# any other may be the program's own.
set -u
build=$(realpath "$1")/src/runtime
c_library=$(ldd "$(command -v env)" | awk '$1 == "libc.so.6" { print $3 }')
of_c=$(llvm-nm-19 -D --defined-only "$c_library" | sed 's/.* //; s/@.*//')
failed=0
for file in waymark-keep.o waymark-rt.o libwaymark-trace.a; do
	names=$(llvm-nm-19 --defined-only --extern-only "$build/$file" | awk 'NF == 3 { print $3 }' | sort -u)
	[ -n "$names" ] || { echo "FAIL: $file defines nothing"; failed=1; }
	for name in $names; do
		case $name in
		wm_* | wm1_* | wmrt_* | __wrap_*) continue ;;
		esac
		echo "$of_c" | grep -qx -e "$name" && continue
		echo "FAIL: $file defines $name, which may be a program's own name"
		failed=1
	done
done
exit $failed
