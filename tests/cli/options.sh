#!/bin/sh
# options.sh BUILD - help, version and wrong command lines of every subcommand.
. "$(dirname "$0")/lib.sh"

expect 0 "$waymark" --version
has out.txt "waymark 0."
expect 0 "$waymark" --help
for command in cc c++ run decode report graph; do
	has out.txt "  $command "
done
for command in run decode report graph; do
	expect 0 "$waymark" "$command" --help
	has out.txt "Usage: waymark $command"
	[ ! -s err.txt ] || fail "$command --help writes to standard error"
	cp out.txt help.txt
	expect 0 "$waymark" help "$command"
	cmp -s out.txt help.txt || fail "help $command is not $command --help"
	awk 'length($0) > 80 { exit 1 }' help.txt || fail "$command --help has lines over 80 columns"
	refused 2 "unknown option --nonsense; see waymark $command --help" "$waymark" "$command" --nonsense
	refused 2 "unknown option -Z" "$waymark" "$command" -Z
	refused 2 "needs a value" "$waymark" "$command" -o
	expect 1 sh -c '"$0" "$1" --help >/dev/full' "$waymark" "$command"
	has err.txt "cannot write to standard output: No space left on device"
done
expect 0 "$waymark" help
has out.txt "Usage: waymark COMMAND"
refused 2 "a command is needed; see waymark --help" "$waymark"
refused 2 "unknown command frobnicate" "$waymark" frobnicate
refused 2 "unknown command frobnicate" "$waymark" help frobnicate
refused 2 "unknown option --frobnicate" "$waymark" --frobnicate
refused 2 "option --folded=1 takes no value" "$waymark" decode --folded=1
refused 2 "--max-depth -1: a number from 1 is needed" "$waymark" decode --max-depth -1
refused 2 "--max-depth 10x" "$waymark" decode --max-depth 10x
refused 2 "a .wmk file is needed" "$waymark" report
refused 2 "--format nope: no such format" "$waymark" report --format nope x.wmk
refused 2 "--top 0" "$waymark" report --top 0 x.wmk
refused 2 "a program is needed" "$waymark" graph
refused 2 "--format svg: no such format" "$waymark" graph --format svg x
refused 2 "a program is needed" "$waymark" run
refused 2 "a program is needed" "$waymark" run --heap
refused 2 "--limit 1X" "$waymark" run --limit 1X true
finish
