#!/bin/bash
# steps.sh BUILD [STOPS [SEED [NAME...]]] - single-steps Debian's own programs and compares the sampler's walk at STOPS random stops of each,
# 200 by default, with a shadow stack of calls (stepper.c). Those that are not installed are left out.
#
#       tests/sampler/steps.sh build 7000      more than 100,000 stops
set -u
here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$1" && pwd)/tests/sampler stops=${2:-200} seed=${3:-1}
[ $# -lt 3 ] && shift $# || shift 3
wanted=" $* "
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-steps.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset LD_PRELOAD
rust=$(rustc --print sysroot 2>/dev/null)
export HOME=$dir LC_ALL=C.UTF-8
failures=0 count=0

step() {
	local name=$1
	shift
	[ "$wanted" = '  ' ] || [ "${wanted#* "$name" }" != "$wanted" ] || return 0
	command -v "$1" >/dev/null || { echo "left out: $name"; return 0; }
	count=$((count + 1))
	timeout -k 5 600 "$tests/stepper" "$tests/libstep-walk.so" "$stops" "$seed" "$@" 2>errors.txt </dev/null >output.txt
	case $? in
	0) ;;
	*)
		echo "FAIL: $name: $(head -n 30 errors.txt)"
		failures=$((failures + 1))
		;;
	esac
	tail -n 1 output.txt | sed "s|^[| ]*[^ ]*|\| $name|"
}

echo 'scale=3000; 4*a(1)' >numbers
seq 300000 | sed 's/\(.*\)/word\1 some line of text \1 and \1 more/' >text
for i in $(seq 900); do
	echo "int f$i(int x, int *p) { int s = 0; for (int i = 0; i < x; i++) s += p[i] * $i + (x ^ i); return s; }"
done >unit.c
echo 'use std::collections::HashMap; pub fn f(n: u64) -> usize { let mut m = HashMap::new(); for i in 0..n { *m.entry(i.to_string()).or_insert(0) += 1; } m.len() } fn main() { println!("{}", f(9)) }' >sum.rs
cat >sum.ml <<'END'
module M = Map.Make (String)
let () =
  let m = ref M.empty in
  for i = 0 to 2000000 do m := M.add (string_of_int (i * 7919 mod 50000)) i !m done;
  Printf.printf "%d\n" (M.fold (fun _ v s -> v + s) !m 0)
END

echo "| program | steps | stops | with calls that the shadow stack knows | frames | guessed | ended early | left out | wrong |"
echo "|---|---|---|---|---|---|---|---|---|"
# C
step perl perl -e 'for (1..3000000) { $h{$_ % 1000} .= chr(65 + $_ % 26); $h{$_ % 1000} = "" if $_ % 7 == 0 } print scalar(sort { $a <=> $b } keys %h)'
step python3 python3 -c 'import json
for i in range(90): json.loads(json.dumps([{"a": list(range(60)), "b": str(j)} for j in range(1200)]))'
step sqlite3 sqlite3 :memory: 'create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<700000) insert into t select x, x*7%1000 from c; select sum(a) from t where b<500 group by b%3;'
step git git -C / hash-object "$dir/text" /usr/bin/git /usr/bin/perl
step sort sort -R text
step grep grep -cE '(w|x)o.*r[a-z]*9.*7.*e$' text
step bc bc -l numbers
# C++
step cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 unit.c -o /dev/null
step cmake cmake --help-full
step clang clang-19 -cc1 -O2 -S -o /dev/null unit.c
# C with assembly
step openssl openssl dgst -sha3-512 /usr/bin/git /usr/bin/perl /usr/bin/gdb /usr/bin/cmake
step openssl-speed openssl speed -seconds 1 -bytes 256 aes-128-cbc sha256
step gp gp -q -f --default secure=0 -s 64M text
step xz xz -9 -c text
step sha256sum sha256sum /usr/bin/git /usr/bin/perl /usr/bin/gdb /usr/bin/cmake
# Rust
step rg rg -j1 -c 'word.*7.*9' text
step rustc "$rust/bin/rustc" -O --emit=obj -o /dev/null sum.rs
# OCaml
if command -v ocamlopt >/dev/null && ocamlopt -o sum sum.ml 2>/dev/null; then step ocaml ./sum; fi
step coqtop coqtop -batch -q
# virtual machines
step ruby ruby --yjit -e 'def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; puts f(30)'
step node node -e 'let s = 0, o = {}; for (let i = 0; i < 3e7; i++) { s += i % 7; if (i % 100 == 0) o["k" + i % 1000] = [i, String(i)]; } console.log(s)'
step php php -r '$a = []; for ($i = 0; $i < 1500000; $i++) { $a[$i % 5000] = md5((string)$i); } sort($a); echo count($a);'
step ghc pandoc -f markdown -t html text
[ $count -gt 0 ] || exit 77
[ $failures -eq 0 ]
