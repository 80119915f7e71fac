#!/bin/bash
# compare_lcov.awk on counts made by hand: each reason for a difference, and counts that are wrong.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-compare.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/prog"
cat >"$work/prog/a.c" <<'C'
int f(int a) {
	if (a > 1 &&
	    a < 9)
		g(a);
	for (;;) {
		if (MORE(a))
			return 1;
	}
	h();
}
int k(int a) {
	while (a--)
		h();
}
C
facts() {
	printf '%s\t' "$@" | sed 's/\t$/\n/'
}
file=$work/prog/a.c
{
	facts unfinished 3 k "$file"
	facts define MORE
	for at in 2:6:10 2:12:10 3:6:7 3:8:7 5:2:40 6:7:90 8:2:2 9:2:4; do
		facts code "$file" ${at//:/ }
	done
	for at in 1:14:10 2:6:10 2:11:10 3:6:7 3:11:10 4:3:5 4:8:10 6:7:50; do
		facts segment "$file" ${at//:/ }
	done
} >"$work/facts"
lcov() { # LINE:COUNT...
	printf 'SF:%s\nFN:1,f\nFN:11,a.c:k\n' "$file"
	printf 'DA:%s\n' "${@/:/,}"
	echo end_of_record
}
lcov 1:10 2:10 3:10 4:5 5:10 6:50 9:4 12:23 13:13 14:7 20:1 >"$work/clang.info" # clang counts line 3 as the whole condition
compare() { # EXPECTED-LAST-LINE EXPECTED-STATUS LINE:COUNT...
	local expected=$1 status=0 expected_status=$2
	shift 2
	lcov "$@" >"$work/waymark.info"
	awk -v sources='/prog/[a-z]*\.c$' -f "$here/compare_lcov.awk" "$work/facts" "$work/clang.info" "$work/waymark.info" >"$work/out" || status=$?
	if [ "$(tail -n 1 "$work/out")" != "$expected" ] || [ $status != "$expected_status" ]; then
		printf 'expected: %s (%s)\n' "$expected" "$expected_status"
		echo "got ($status):" && cat "$work/out"
		exit 1
	fi
}
# 3: the condition's end; 5: jumps back; 6: a macro's loop; 12, 13: three activations never came back; 20 is clang's alone
compare 'lines 9 equal 4 unfinished 2 position 1 end 0 loop 1 macro 1 different 0 only-clang 2 only-waymark 1' 0 \
	2:10 3:7 4:5 5:40 6:90 8:2 9:4 12:17 13:10 14:7
# more than clang's, less than can be unfinished, other than at its position, or just wrong
compare 'lines 2 equal 0 unfinished 0 position 0 end 0 loop 0 macro 0 different 2 only-clang 9 only-waymark 0' 1 12:24 13:9
compare 'lines 1 equal 0 unfinished 0 position 0 end 0 loop 0 macro 0 different 1 only-clang 10 only-waymark 0' 1 4:6
sed -i 's/\t3\t6\t7/\t3\t6\t8/' "$work/facts"
compare 'lines 1 equal 0 unfinished 0 position 0 end 0 loop 0 macro 0 different 1 only-clang 10 only-waymark 0' 1 3:7
compare 'lines 0 equal 0 unfinished 0 position 0 end 0 loop 0 macro 0 different 0 only-clang 11 only-waymark 1' 1 30:1
echo "ok: reasons for other counts of a line are told apart, wrong counts found"
