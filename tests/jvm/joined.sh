#!/bin/bash
# joined.sh BUILD JDK SOURCES [FIRST LAST] - contexts go on from Java into a library that was built with `waymark cc`, and back: both call each
# other at random, by some seeds (or those from FIRST to LAST), with threads that both create, and each point's token decodes to the calls
# that led there. There is one recording.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
first=${4:-1} last=${5:-40}

compiled Joined
flags=(-g -O1 -shared -fPIC -I "$jdk/include" -I "$jdk/include/linux" -pthread)
"$waymark" cc "${flags[@]}" -o joined.so "$sources/joined.c" || exit 1
"${CC:-cc}" -DPLAIN "${flags[@]}" -o plain.so "$sources/joined.c" || exit 1

echo "seeds $first to $last"
for run in check check,encoder=lucce check,alloc=0,encoder=fast -Xint -Xcheck:jni; do
	options=check machine=()
	case $run in
	-*) machine=("$run") ;;
	*) options=$run ;;
	esac
	rm -f run.*.wmk
	WAYMARK_OUT=$dir/run.%p.wmk timeout -k 1 300 "$jdk/bin/java" "-agentpath:$agent=$options" "${machine[@]}" -cp classes Joined \
		"$dir/plain.so" "$dir/joined.so" "$first" "$last" >points.txt 2>err.txt || { head -n 5 err.txt; fail "$run: status"; }
	grep -q '^waymark: [1-9][0-9]* captures agreed with the stack, 0 differed$' err.txt || { head -n 5 err.txt; fail "$run: check"; }
	points=$(grep -c '^point ' points.txt)
	[ "$points" -gt $((10 * (last - first + 1))) ] || fail "$run: only $points points"
	[ "$(echo run.*.wmk | wc -w)" = 1 ] || { fail "$run: not one recording"; continue; }
	"$waymark" decode --folded --wmk run.*.wmk points.txt >folded.txt || fail "$run: decode"
	awk -f "$sources/compare.awk" -f "$sources/joined.awk" folded.txt >compared.txt
	[ "$(tail -n 1 compared.txt)" = "agreed $points differed 0" ] || { cut -c1-1000 compared.txt; fail "$run: stacks"; }
done
[ "$failures" = 0 ]
