#!/bin/bash
# control.sh BUILD - no control character of a recording, a program, a core or a file name reaches the output of any subcommand: C0, DEL,
# C1 as UTF-8 and as bytes, other bytes that are no UTF-8. A line of output is one line whatever the names in it are.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"
	exit 77; }

# Title, colour, end of line, backspace, DEL, C1's CSI in both forms, half a character, an overlong one; and two that are text.
evil=$'\e]0;t\a\e[31m\r\n\b\x7f\xc2\x9b31m\x9b31m\xe2\x82\xc0\x9b-\xc3\xa4\xe2\x82\xac'

cat >check.py <<'END'
import sys, unicodedata
for name in sys.argv[1:]:
    text = open(name, "rb").read().decode("utf-8")  # strict
    bad = {c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"}
    assert not bad, (name, bad, [line for line in text.split("\n") if bad & set(line)][:3])
    loose = [line for line in text.split("\n") if line.startswith("-\u00e4")]
    assert not loose, (name, "a name goes on in the next line", loose)
END
# clean LEAST STATUS COMMAND...: output and messages are plain text, and show the evil text (what of it is text) in so many lines or more.
clean() {
	least=$1
	shift
	expect "$@"
	python3 check.py out.txt err.txt || fail "$*"
	[ "$(cat out.txt err.txt | grep -c -- '-ä€')" -ge "$least" ] || fail "$*: not shown: $(cat out.txt err.txt)"
}

"$build/tests/cli/control_file" plain.wmk "$evil" >tokens.txt || exit 1
cp plain.wmk "rec$evil.wmk"
for format in text events folded json speedscope svg; do
	clean 1 0 "$waymark" report --format=$format "rec$evil.wmk"
done
clean 2 0 "$waymark" report --format=folded --metric=bytes plain.wmk
grep -qE '^Class.*method[^;]* 10$' out.txt || fail "folded: $(cat out.txt)"
clean 1 1 "$waymark" report --metric "$evil" plain.wmk
clean 1 1 "$waymark" report "none$evil"
clean 1 1 "$waymark" paths "rec$evil.wmk"
clean 1 1 "$waymark" merge -o merged.wmk "rec$evil.wmk" plain.wmk
clean 1 2 "$waymark" "report$evil"
clean 1 2 "$waymark" report "--no$evil"
printf 'x' >"damaged$evil"
for command in graph 'ir -o out' 'tune --list' core; do
	# shellcheck disable=SC2086
	clean 1 1 "$waymark" $command "none$evil"
	# shellcheck disable=SC2086
	clean 1 1 "$waymark" $command "damaged$evil"
done

# Programs and source files of such names.
mkdir "src$evil"
cat >"src$evil/prog.c" <<'END'
#include <stdlib.h>
#include <waymark.h>
static volatile int sink;
__attribute__((noinline)) static void stop(int n)
{
	wm_event(getenv("EVIL"), 1);
	if (n > 0)
		abort();
	sink = n;
}
int main(int argc, char **argv)
{
	char token[WM_TOKEN_MAX];

	(void)argv;
	wm_token(wm_capture(), token, sizeof token);
	stop(argc - 1);
	return 0;
}
END
"$waymark" cc -O1 -g --wm=contexts,paths,trace='*=none|cc+pt' "src$evil/prog.c" -o "prog$evil" || exit 1
mkdir "out$evil"
export EVIL=$evil
clean 1 0 "$waymark" run --events -o "out$evil/" "./prog$evil"
recordings=(out*/*.wmk)
recording=${recordings[0]}
for format in text events folded json speedscope svg; do
	clean 0 0 "$waymark" report --format=$format "$recording"
done
for format in text json lcov html; do
	clean 1 0 "$waymark" paths --format=$format "$recording"
done
clean 1 3 "$waymark" residual --tested "$recording" --field "$recording" plain.wmk
clean 1 0 "$waymark" graph "prog$evil"
clean 1 0 "$waymark" graph --format=json "prog$evil"
clean 1 0 "$waymark" tune --list "prog$evil"
core_of core "./prog$evil" crash || exit 1
cp core "core$evil"
for format in text json lcov html; do
	clean 1 0 "$waymark" core --format=$format "./prog$evil" "core$evil"
done
clean 1 0 "$waymark" core --format=text --full "core$evil"

# Tokens whose recording has such names, and one whose program is not there.
clean 2 0 "$waymark" decode --wmk plain.wmk tokens.txt
clean 2 0 "$waymark" decode --folded --wmk plain.wmk tokens.txt
finish
