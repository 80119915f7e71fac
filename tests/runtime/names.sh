#!/bin/sh
# names.sh BUILD - archives that every program is linked with define no name that is not Waymark's, or one of the C library's that they stand in for:
# any other may be the program's own.
set -u
build=$(realpath "$1")/src/runtime
c_library=$(ldd "$(command -v env)" | awk '$1 == "libc.so.6" { print $3 }')
of_c=$(llvm-nm-19 -D --defined-only "$c_library" | sed 's/.* //; s/@.*//')
failed=0
for archive in keep rt trace; do
	names=$(llvm-nm-19 --defined-only --extern-only "$build/libwaymark-$archive.a" | awk 'NF == 3 { print $3 }' | sort -u)
	[ -n "$names" ] || { echo "FAIL: libwaymark-$archive.a defines nothing"; failed=1; }
	for name in $names; do
		case $name in
		wm_* | wm1_* | wmrt_* | __wrap_*) continue ;;
		esac
		echo "$of_c" | grep -qx -e "$name" && continue
		echo "FAIL: libwaymark-$archive.a defines $name, which may be a program's own name"
		failed=1
	done
done
exit $failed
