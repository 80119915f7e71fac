#!/bin/bash
# debian.sh WAYMARK - programs as Debian built them, under the agent: output and exit status are those of a run without it, and
# every sample that is compared with the stack agrees.
set -eu
waymark=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" >&2; exit 1; }

cat /usr/include/*.h /usr/include/linux/*.h 2>/dev/null | head -c 3000000 >text
cat >words.pl <<'P'
my %count;
open my $file, '<', 'text' or die;
while (<$file>) { $count{$_}++ for grep { length > 3 } split /\W+/ }
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print join(',', @words[0 .. 20]), "\n";
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
print fib(23), "\n";
exit 3;
P
cat >shell.sh <<'P'
f() { local n=$1; if ((n < 2)); then r=$n; else f $((n - 1)); local a=$r; f $((n - 2)); r=$((r + a)); fi; }
f 15; echo $r
for i in {1..2000}; do x="${x-}a$i"; done
echo ${#x} "${x//a1/b}" | md5sum
P

# A compiler: deep recursion, callbacks, and many tail calls.
cc1=$(gcc -print-prog-name=cc1)
for i in {1..60}; do
	echo "static int f$i(int a, int b) { int x[9] = {0}; for (int i = 0; i < b; i++) { if (a & i) x[i % 9] = a * i + $i;"
	echo "else switch (i % 7) { case 0: a += b; break; case 1: a -= i; break; case 2: a ^= $i; break; default: a = a * 3; }"
	echo "x[(a + i) & 7] += i; } return x[b % 9] + a; }"
done >functions.i
echo "int main(void) { return $(printf ' + f%d(1, 2)' {1..60}); }" >>functions.i

# COMMAND...: run twice.
compare() {
	local native=0 under=0 line differ
	"$@" >native.out 2>native.err || native=$?
	"$waymark" run --sample=997 --check -o recording.wmk -- "$(type -P "$1")" "${@:2}" >under.out 2>under.err || under=$?
	cmp native.out under.out || fail "$1: another output"
	[ $native = $under ] || fail "$1: exit status $under for $native"
	line=$(grep -E 'agrees? with the stack' under.err) || { cat under.err; fail "$1: nothing says how many samples agree"; }
	echo "$1: $line"
	differ=$(sed -n 's/.* \([0-9]*\) of \([0-9]*\) compared samples* agree.*/\2-\1/p' <<<"$line")
	[ -n "$differ" ] && [ $((differ)) = 0 ] || { cat under.err; fail "$1: $((differ)) samples differ from the stack"; }
	rm -f recording.wmk
}

compare perl words.pl
compare gzip -9c text
compare sed -E 's/([a-z]+)_([a-z]+)/\2_\1/g; s/[0-9]+/<&>/' text
compare sort text
compare grep -cE '(a|b)+[a-z]*_(x|y)' text
compare bash shell.sh
compare "$cc1" -quiet -O2 functions.i -o -
