#!/bin/sh
# options.sh BUILD - help, version and wrong command lines of every subcommand.
. "$(dirname "$0")/lib.sh"

expect 0 "$waymark" --version
has out.txt "waymark 0."
expect 0 "$waymark" --help
for command in cc c++ run decode report paths residual merge convert archive diff annotate doctor core tune ir graph; do
	has out.txt "  $command "
done
for command in run decode report paths residual merge convert archive diff annotate doctor core tune ir graph; do
	expect 0 "$waymark" "$command" --help
	has out.txt "Usage: waymark $command"
	[ ! -s err.txt ] || fail "$command --help writes to standard error"
	cp out.txt help.txt
	expect 0 "$waymark" help "$command"
	cmp -s out.txt help.txt || fail "help $command is not $command --help"
	awk 'length($0) > 80 { exit 1 }' help.txt || fail "$command --help has lines over 80 columns"
	refused 2 "unknown option --nonsense; see waymark $command --help" "$waymark" "$command" --nonsense
	refused 2 "unknown option -Z" "$waymark" "$command" -Z
	[ "$command" = doctor ] || refused 2 "needs a value" "$waymark" "$command" -o
	expect 1 sh -c '"$0" "$1" --help >/dev/full' "$waymark" "$command"
	has err.txt "cannot write to standard output: No space left on device"
done
expect 0 "$waymark" core --help
has out.txt "  --color=WHEN      use colours: auto, always or never"
has out.txt "  --frames N        at most N frames of each thread; --frames all for all (200)"
for command in cc c++; do
	expect 0 "$waymark" "$command" --help
	sed '/options of clang follow/q' out.txt >help.txt
	has help.txt "Usage: waymark $command"
	awk 'length($0) > 80 { exit 1 }' help.txt || fail "$command --help has lines over 80 columns"
done
refused 1 ", each with a value after the =, or --wm-thin-objects, or --wm-no-recorder, or --wm-hybrid" "$waymark" cc --wm-nonsense x.c
refused 1 "--wm-nonsense: not known; use --wm=, --wm-events=, --wm-stage=" "$waymark" cc --wm-nonsense x.c
expect 0 "$waymark" help
has out.txt "Usage: waymark COMMAND"
refused 2 "a command is needed; see waymark --help" "$waymark"
refused 2 "unknown command frobnicate" "$waymark" frobnicate
refused 2 "unknown command frobnicate" "$waymark" help frobnicate
refused 2 "unknown option --frobnicate" "$waymark" --frobnicate
refused 2 "option --folded=1 takes no value" "$waymark" decode --folded=1
refused 2 "--max-depth -1: a number from 1 is needed" "$waymark" decode --max-depth -1
refused 2 "--max-depth 10x" "$waymark" decode --max-depth 10x
refused 1 "a .wmk file is needed: the working directory has no recording" "$waymark" report
refused 2 "--format nope: no such format" "$waymark" report --format nope x.wmk
refused 2 "--top 0" "$waymark" report --top 0 x.wmk
refused 2 "a .wmk file is needed" "$waymark" paths
refused 2 "--format nope: no such format" "$waymark" paths --format nope x.wmk
refused 2 "--by nope: must be path or function" "$waymark" paths --by nope x.wmk
refused 2 "--color nope: must be auto, always or never" "$waymark" paths --color nope x.wmk
refused 2 "--top 0" "$waymark" paths --top 0 x.wmk
refused 1 "nodir: No such file or directory" "$waymark" paths --source-dir nodir x.wmk
refused 2 "--tested with a .wmk file is needed" "$waymark" residual
refused 2 "--tested with a .wmk file is needed" "$waymark" residual --field x.wmk
refused 2 "--field with a .wmk file is needed" "$waymark" residual --tested x.wmk y.wmk
refused 2 "x.wmk: say --tested or --field before it" "$waymark" residual x.wmk
refused 2 "--hot 0: must be a percentage" "$waymark" residual --hot 0 --tested x.wmk --field y.wmk
refused 2 "--hot 1x: must be a percentage" "$waymark" residual --hot 1x --tested x.wmk --field y.wmk
refused 2 "--format lcov: no such format" "$waymark" residual --format lcov --tested x.wmk --field y.wmk
refused 2 "-o FILE is needed" "$waymark" merge x.wmk
refused 2 "a recording is needed" "$waymark" merge -o x.wmk
refused 2 "a program is needed" "$waymark" graph
refused 2 "--format svg: no such format" "$waymark" graph --format svg x
refused 2 "a program is needed" "$waymark" run
refused 2 "a program is needed" "$waymark" run --heap
refused 2 "--limit 1X" "$waymark" run --events --limit 1X true
finish
