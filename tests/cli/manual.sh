#!/bin/sh
# manual.sh BUILD - the manual pages and completions that are made from the tables of options: each option of --help is in them and
# no other, they are sound, completion offers what fits, and a template that does not fit the tables is refused.
. "$(dirname "$0")/lib.sh"
top=$here/../..
man=$build/docs/man
bash_completion=$build/completion/waymark
zsh_completion=$build/completion/_waymark

for command in run decode report paths residual merge convert archive diff annotate doctor core tune ir graph; do
	"$waymark" $command --help >help.txt
	grep '^  -' help.txt | grep -oE -- '--[a-z][a-z-]*' | sort -u | sed 's/^--//' >options.txt
	[ -s options.txt ] || fail "$command --help has no options"
	# And the other way round.
	sed -n '/^\.It Fl/{s/.* -\([a-z][a-z-]*\).*/\1/p;s/^\.It Fl -\([a-z-]*\).*/\1/p}' "$man/waymark-$command.1" >pages.txt
	while read -r option; do
		grep -qx -- "$option" options.txt || fail "$command --help lacks --$option"
	done <pages.txt
	while read -r option; do
		grep -qE "(Fl|,) -$option( |\$|,)" "$man/waymark-$command.1" || fail "waymark-$command.1 lacks --$option"
		grep -qE -- "--$option\b" "$bash_completion" || fail "waymark.bash lacks --$option"
		grep -qE -- "--$option\b" "$zsh_completion" || fail "_waymark lacks --$option"
	done <options.txt
	grep -q "waymark-$command 1" "$man/waymark.1" || fail "waymark.1 does not name waymark-$command"
done
# waymark cc --help goes on with clang's.
"$waymark" cc --help 2>&1 | grep -oE -- '^  --wm[a-z-]*' | sort -u | sed 's/^  --//' >options.txt
[ "$(wc -l <options.txt)" = 10 ] || fail "cc --help: $(cat options.txt)"
while read -r option; do
	value='='
	case $option in wm-hybrid | wm-thin-objects | wm-no-recorder) value= ;; esac
	grep -qE "Fl -$option( |\$)" "$man/waymark-cc.1" || fail "waymark-cc.1 lacks --$option"
	grep -qE -- "--$option$value" "$bash_completion" || fail "waymark.bash lacks --$option"
	grep -qE -- "--$option$value" "$zsh_completion" || fail "_waymark lacks --$option"
done <options.txt
limit=$(sed -n 's/.*WM1_PATHS_ARRAY_DEFAULT = \([0-9]*\).*/\1/p' "$top/include/waymark/paths.h")
grep -q "paths have a counter for each, $limit by default" "$man/waymark-cc.1" || fail "waymark-cc.1: not $limit by default"
if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$man"/*.1 || fail "mandoc -Tlint"
fi
bash -n "$bash_completion" || fail "waymark.bash"
if command -v zsh >/dev/null; then
	zsh -n "$zsh_completion" || fail "_waymark"
fi

# Of each form of an option.
grep -qx '\.It Fl -format Ns = Ns Ar name' "$man/waymark-report.1" || fail "--format=NAME in waymark-report.1"
grep -qx '\.It Fl p , -pid Ar pid' "$man/waymark-core.1" || fail "--pid in waymark-core.1"
grep -qx '\.It Fl -exe Ar path , Fl -debug-dir Ar dir' "$man/waymark-paths.1" || fail "--exe in waymark-paths.1"
grep -qx '\.It Fl -wm-stage Ns = Ns Cm final' "$man/waymark-cc.1" || fail "--wm-stage=final in waymark-cc.1"
grep -qx '\.Op Fl o Ar file' "$man/waymark-decode.1" || fail "-o in the synopsis of waymark-decode.1"
grep -qF "'*--exe=[a program, shared library or debug file, or a directory of them, to find names in]:path:_files'" "$zsh_completion" ||
	fail "--exe in _waymark"
grep -qF "'(-o --output)'{-o+,--output=}'[write to FILE]:file:_files'" "$zsh_completion" || fail "-o in _waymark"
grep -qF "'--folded[replace each token in place by main;f;g, outermost first]'" "$zsh_completion" || fail "--folded in _waymark"
grep -qF "'--color=[use colours]:when:(auto always never)'" "$zsh_completion" || fail "--color in _waymark"

# What does not fit the tables: SED-SCRIPT changes a page, and the message has TEXT in it.
refuses() { # PAGE SED-SCRIPT TEXT
	sed "$2" "$top/docs/man/$1.1.in" >"$1.1.in"
	cmp -s "$1.1.in" "$top/docs/man/$1.1.in" && fail "$1: sed '$2' changes nothing"
	expect 1 "$build/src/cli/waymark-generate" man "$1.1.in"
	has err.txt "$3"
}
refuses waymark-paths '/^@option by@/d' "--by is not described"
refuses waymark-paths 's/^@option by@/@option by of@/' "there is no option --of"
refuses waymark-paths 's/^@option by@/@option full@/' "--full is described already"
refuses waymark-paths 's/^\.It Cm lcov/.It lcov/' "lcov, which --format takes, is not described"
refuses waymark-report 's/, peak$//;s/^\.Cm peak$//' "peak, which --metric takes, is not described"
refuses waymark-cc '/^@option wm-stage=final@/d' "--wm-stage=final is not described"
refuses waymark-cc '/^@option wm-path-hash/d' "--wm-path-hash is not described"
refuses waymark-cc 's/wm-stage=final/wm-stage=last/' "--wm-stage does not take last"
refuses waymark '/^@command tune@/d' "tune is not described"
refuses waymark 's/^@command tune@/@command tuna@/' "there is no command tuna"
refuses waymark-core 's/^@synopsis@/&/;s/^\.Sh DESCRIPTION/@options@/' "@options@ is no marker"

# What bash offers, with the two functions of bash-completion that are used here.
cat >try.bash <<'END'
_init_completion() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
_filedir() { COMPREPLY=("filedir $*"); }
_command_offset() { COMPREPLY=("offset $1"); }
_pids() { COMPREPLY=("pids"); }
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
	got=$(bash try.bash "$bash_completion" "$@")
	[ "$got" = "$want" ] || fail "completion of $*: \"$got\", not \"$want\""
}
offers "report" waymark rep
offers "residual" waymark res
offers "tune" waymark help tu
offers "lcov" waymark paths --format=l
offers "lcov" waymark core --format l
offers "function" waymark paths --by=f
offers "always" waymark core --color=al
offers "leaked" waymark report --metric=le
offers "name" waymark report --sort=n
offers "line" waymark report --by=l
offers "all" waymark paths --top a
offers "100" waymark core --frames=100
offers "filedir wmk" waymark residual --field ""
offers "filedir wmk" waymark residual --field a.wmk ""
offers "speedscope svg" waymark report --format=s
offers "json" waymark graph --format=j
offers "filedir wmk" waymark report ""
offers "filedir " waymark tune --from ""
offers "filedir " waymark core ""
offers "filedir " waymark decode -o ""
offers "pids" waymark core -p ""
offers "" waymark report --function ""
offers "--wm-stage=" waymark cc --wm-s
offers "paths" waymark c++ --wm=p
offers "trace trace=" waymark cc --wm=t
offers "inline" waymark cc --wm-path-hash=i
offers "filedir " waymark cc --wm-plan=
offers "filedir " waymark cc --wm-plan x
offers "filedir -d" waymark decode --debug-dir ""
offers "filedir -d" waymark paths --source-dir=
offers "--folded" waymark decode --f
offers "--format= --function --full" waymark paths --f
offers "offset 3" waymark run --heap prog a
offers "offset 5" waymark run --heap -o x prog a
offers "offset 4" waymark run --heap --output=x prog a
offers "offset 3" waymark run --sample prog a
offers "offset 4" waymark run --sample --check prog a
offers "offset 3" waymark run --sample=99 prog a
offers "--sample" waymark run --sa
finish
