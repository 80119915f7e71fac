#!/bin/sh
# manual.sh BUILD - every option of --help is in the manual page and in both completions; pages and completions are sound.
. "$(dirname "$0")/lib.sh"
top=$here/../..

for command in run decode report paths residual merge core tune ir graph; do
	"$waymark" $command --help >help.txt
	grep '^  -' help.txt | grep -oE -- '--[a-z][a-z-]*' | sort -u | sed 's/^--//' >options.txt
	[ -s options.txt ] || fail "$command --help has no options"
	# And the other way round.
	sed -n '/^\.It Fl/{s/.* -\([a-z][a-z-]*\).*/\1/p;s/^\.It Fl -\([a-z-]*\).*/\1/p}' "$top/docs/man/waymark-$command.1" >pages.txt
	while read -r option; do
		grep -qx -- "$option" options.txt || fail "$command --help lacks --$option"
	done <pages.txt
	while read -r option; do
		grep -qE "(Fl|,) -$option( |\$|,)" "$top/docs/man/waymark-$command.1" || fail "waymark-$command.1 lacks --$option"
		grep -qE -- "--$option\b" "$top/completion/waymark.bash" || fail "waymark.bash lacks --$option"
		grep -qE -- "--$option\b" "$top/completion/_waymark" || fail "_waymark lacks --$option"
	done <options.txt
	grep -q "waymark-$command 1" "$top/docs/man/waymark.1" || fail "waymark.1 does not name waymark-$command"
done
# waymark cc --help goes on with clang's.
"$waymark" cc --help 2>&1 | grep -oE -- '^  --wm[a-z-]*' | sort -u | sed 's/^  --//' >options.txt
[ "$(wc -l <options.txt)" = 6 ] || fail "cc --help: $(cat options.txt)"
while read -r option; do
	grep -qE "Fl -$option " "$top/docs/man/waymark-cc.1" || fail "waymark-cc.1 lacks --$option"
	grep -qE -- "--$option=" "$top/completion/waymark.bash" || fail "waymark.bash lacks --$option"
	grep -qE -- "--$option=" "$top/completion/_waymark" || fail "_waymark lacks --$option"
done <options.txt
limit=$(sed -n 's/.*WM1_PATHS_ARRAY_DEFAULT = \([0-9]*\).*/\1/p' "$top/include/waymark/paths.h")
grep -q "paths have a counter for each, $limit by default" "$top/docs/man/waymark-cc.1" || fail "waymark-cc.1: not $limit by default"
if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$top"/docs/man/*.1 || fail "mandoc -Tlint"
fi
bash -n "$top/completion/waymark.bash" || fail "waymark.bash"
if command -v zsh >/dev/null; then
	zsh -n "$top/completion/_waymark" || fail "_waymark"
fi

# What bash offers, with the two functions of bash-completion that are used here.
cat >try.bash <<'END'
_init_completion() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
_filedir() { COMPREPLY=("filedir $*"); }
_command_offset() { COMPREPLY=("offset $1"); }
compopt() { :; }
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_waymark
echo "${COMPREPLY[*]}"
END
offers() { # WANT WORD...
	want=$1
	shift
	got=$(bash try.bash "$top/completion/waymark.bash" "$@")
	[ "$got" = "$want" ] || fail "completion of $*: \"$got\", not \"$want\""
}
offers "report" waymark rep
offers "residual" waymark res
offers "lcov" waymark paths --format=l
offers "function" waymark paths --by=f
offers "filedir wmk" waymark residual --field ""
offers "speedscope svg" waymark report --format=s
offers "json" waymark graph --format=j
offers "filedir wmk" waymark report ""
offers "--wm-stage=" waymark cc --wm-s
offers "paths" waymark c++ --wm=p
offers "inline" waymark cc --wm-path-hash=i
offers "filedir " waymark cc --wm-plan=
offers "filedir -d" waymark decode --debug-dir ""
offers "--folded" waymark decode --f
offers "offset 3" waymark run --heap prog a
offers "offset 5" waymark run --heap -o x prog a
finish
