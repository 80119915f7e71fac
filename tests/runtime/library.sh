#!/bin/sh
# library.sh WAYMARK CC SOURCES - an instrumented library in four kinds of process: linked and loaded, by a program that is
# instrumented and by one that is not. Where libc comes before the runtime, interposing must work all the same.
set -eu
waymark=$(realpath "$1") cc=$2 sources=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

"$waymark" cc -O2 -shared -fPIC "$sources/library.c" -o liblibrary.so
for compile in "$cc" "$waymark cc"; do
	$compile -O2 -DLINKED "$sources/library_user.c" -o linked -L. -llibrary -Wl,-rpath,"$dir" -ldl
	$compile -O2 "$sources/library_user.c" -o loader -ldl
	case $compile in
	"$cc") main='' ;;
	*) main='main;' ;;
	esac
	cat >want <<END
handler ${main}library_run;deep;deep;deep;deep;[interrupted];[signal];handler;show
handler ${main}library_run;deep;[interrupted];[signal];handler;show
compare ${main}library_run;[qsort];compare;show
coroutine ${main}library_run;[makecontext];body;show
coroutine again ${main}library_run;[makecontext];body;show
end ${main}library_run;show
END
	WAYMARK_OUT=$dir ./linked >out
	"$waymark" decode --folded out >got
	diff -u want got
	# the second time all numbers are as they were
	cat want want >twice
	WAYMARK_OUT=$dir ./loader ./liblibrary.so >out
	"$waymark" decode --folded out >got
	diff -u twice got
	[ "$(sed -n 1,6p out)" = "$(sed -n 7,12p out)" ] || {
		echo "the second dlopen gave other tokens"
		exit 1
	}
	rm -f ./*.wmk
done
