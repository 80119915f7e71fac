#!/bin/bash
# entered.sh BUILD - entry to functions that no covered call site proves (entered.c): reached by pointer, by name from other
# objects, from code that is not traced. `waymark core --functions` says of each whether it ran, never that it may have; the
# program itself says what did. In several schemes, both stages, and with a scheme that is chosen when it runs.
#
# KEEP=1 keeps the folder.
# shellcheck source=tests/activity/lib.sh
. "$(dirname "$0")/lib.sh"
failed=0
clang-19 -O1 -DOUTSIDE -c "$here/entered.c" -o outside.o || exit 1

# entered WHAT FLAG...
entered() {
	local what=$1
	shift
	"$waymark" cc "$@" -g -rdynamic "$here/entered.c" outside.o -o program -pthread || exit 1
	core_of core ./program || exit 1
	sed -n 's/^\(yes\|no\) \([a-z_]*\)$/\1 \2/p' core.gdb | sort >ran
	"$waymark" core --functions ./program core >out || exit 1
	awk '$5 ~ /^(ran|idle)_/ && NF >= 6 { print $1, $5 }' out | sort >said
	if [ "$(wc -l <ran)" -ne 24 ] || ! diff ran said; then
		echo "FAIL $what"
		failed=1
	fi
}

entered "default" --wm=trace -O1
entered "default, of some functions" '--wm=trace=plain_*=none;*=cc+pt' -O2
entered "default, source stage" '--wm=trace=plain_*=none;*=cc+pt' --wm-stage=source -O2
entered "cc, only functions asked for" '--wm=trace=ran_*=cc;idle_*=cc' -O1
entered "fc+cc" '--wm=trace=plain_*=none;*=fc+cc' -O0
entered "fc+cc+pt, source stage" '--wm=trace=plain_*=none;*=fc+cc+pt' --wm-stage=source -O1
export WAYMARK_SCHEME='plain_*=none;*=cc+pt'
entered "cc+pt, chosen" '--wm=trace=*=none|fc|cc+pt' -O2
WAYMARK_SCHEME='plain_*=none;*=fc+cc+pt'
entered "fc+cc+pt, chosen" '--wm=trace=*=none|fc+cc+pt' -O2
exit $failed
