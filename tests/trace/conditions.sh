#!/bin/bash
# conditions.sh BUILD-DIR SEED... - of conditions with many tests on a line, `waymark core` names each test and says what it decided
# (conditions.py).
set -u
here=$(cd "$(dirname "$0")" && pwd)
waymark=$(cd "$1" && pwd)/waymark
shift
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-conditions.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
failures=0
for seed; do
	python3 "$here/conditions.py" generate "$seed" >program.c || exit 1
	for how in 'O0 final written' 'O0 source written' 'O2 source written' 'O2 final optimized'; do
		read -r level stage kind <<<"$how"
		"$waymark" cc --wm=trace='*=pt' --wm-trace-paths=1024 --wm-stage="$stage" -g "-$level" -w program.c -o program &&
			{ ./program >log; } 2>err.txt
		[ -s log ] || exit 1
		core_of core ./program || exit 1
		"$waymark" core --format=json ./program core >core.json || exit 1
		python3 "$here/conditions.py" check program.c log core.json "$kind" 2>err.txt || {
			echo "FAIL: seed $seed, $how: $(tail -n 1 err.txt)"
			failures=$((failures + 1))
			[ -z "${KEEP:-}" ] || cp -r . "$KEEP"
		}
	done
done
exit $((failures > 0))
