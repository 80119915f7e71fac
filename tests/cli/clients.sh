#!/bin/sh
# clients.sh BUILD - each row of the tables of clients (waymark/agent.h, waymark/jvm.h) is an option of `waymark run` and `waymark attach`, in
# --help and on the page, and a word that the agent knows; these have no other options than the rows and their own.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
rows=$build/tests/cli/client_rows
unset WAYMARK_AGENT

# names KIND...: as options are written
names() {
	for kind; do
		"$rows" | sed -n "s/^$kind //p"
	done
}
# "--sample[=HZ]", "-o, --output PLACE": sample=HZ, output
help_options() {
	expect 0 "$waymark" "$1" --help
	sed -n 's/^  \(-., \)\{0,1\}--\([a-z-]*\)\(\[\(=[A-Z]*\)\]\)\{0,1\}.*/\2\4/p' out.txt | sort
}
# ".It Fl -sample Ns Oo Ns = Ns Ar hz Oc", ".It Fl o , Fl -output Ar place": the same
page_options() {
	sed -n 's/^\.It Fl \([a-z] , \)\{0,1\}\(Fl \)\{0,1\}-\([a-z-]*\)\( Ns Oo Ns \(=\) Ns Ar \([a-z]*\) Oc\)\{0,1\}.*/\3\5\6/p' \
		"$build/docs/man/waymark-$1.1" | sort
}

# check COMMAND KINDS OWN...: the options of the command, beside rows of those kinds
check() {
	command=$1
	kinds=$2
	shift 2
	# shellcheck disable=SC2086
	{ names $kinds && printf '%s\n' "$@"; } | sort >want.txt
	help_options "$command" >help.txt
	cmp -s want.txt help.txt || fail "waymark $command --help: $(diff want.txt help.txt)"
	tr '[:upper:]' '[:lower:]' <want.txt | sort >want_page.txt
	page_options "$command" >page.txt
	cmp -s want_page.txt page.txt || fail "waymark-$command.1: $(diff want_page.txt page.txt)"
}

[ "$(names agent | wc -l)" -ge 3 ] && [ "$(names java | wc -l)" -ge 3 ] || fail "rows: $("$rows")"
check run 'run java' wall=HZ off-cpu=HZ profile cache watch events leaks encode agent no-agent output label limit recent quiet help
check attach 'agent java' wall=HZ off-cpu=HZ encode detach output limit quiet help

# The words of WAYMARK_AGENT: all that a message lists, and no other.
known=$(names agent word | paste -sd, | sed 's/,/, /g')
WAYMARK_AGENT=nosuch refused 1 "unknown option nosuch; known are $known" "$waymark" run --events true
grep -q "known are $known\$" err.txt || fail "more words: $(cat err.txt)"
for word in $(names agent word); do
	case $word in
	*=*) # only with a number
		WAYMARK_AGENT=${word%=*}=5,nosuch refused 1 "unknown option nosuch" "$waymark" run --events true
		WAYMARK_AGENT=${word%=*} refused 1 "unknown option ${word%=*};" "$waymark" run --events true
		;;
	*)
		WAYMARK_AGENT=$word,nosuch refused 1 "unknown option nosuch" "$waymark" run --events true
		WAYMARK_AGENT=$word=5 refused 1 "unknown option $word=5" "$waymark" run --events true
		;;
	esac
done

# An option gives its number to no other, and one that is out of range is named.
for row in $(names agent java | grep -v '^heap$'); do
	case $row in
	*=*) refused 2 "--${row%=*}=-1: a number from " "$waymark" run --events "--${row%=*}=-1" true ;;
	*) expect 2 "$waymark" run --events "--$row=1" true ;;
	esac
done
finish
