# Functions, arrays, patterns, arithmetic, subshells and pipes.
fib() { if (($1 < 2)); then REPLY=$1; else local a; fib $(($1 - 1)); a=$REPLY; fib $(($1 - 2)); REPLY=$((a + REPLY)); fi; }
fib 17
echo "$REPLY"
declare -A seen
for ((i = 0; i < 12000; i++)); do
	key=word$((i * 7919 % 1009))
	seen[$key]=$((${seen[$key]:-0} + 1))
	case $key in *1*5) text=${text-}${key//[0-4]/x} ;; *9) text=${key#word}${text:0:200} ;; esac
	[[ $key =~ ^word([0-9])([0-9]*)$ ]] && last=${BASH_REMATCH[2]}
done
echo "${#seen[@]} ${#text} $last"
on_exit() { echo "leaves with $1"; }
trap 'on_exit $?' EXIT
total=0
while read -r a b; do total=$((total + a * b)); done < <(for ((i = 0; i < 8000; i++)); do echo $i $((i % 7)); done)
echo $total
for ((i = 0; i < 60; i++)); do v=$(printf '%s-' {1..20} $i | tr 1 2); done
echo "$v"
IFS=, eval 'set -- ${text// /,}'
echo $#
