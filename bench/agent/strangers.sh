#!/bin/bash
# Programs that no test of the project knows, of many languages: each runs alone and under `waymark run --sample`, and must print the same and
# end in the same way.
#
#   bench/agent/strangers.sh [-b BUILD-DIR] [-r RATE] [-m "OPTIONS"]... [NAME...]
#
# -m: under `waymark run` with these options instead, one after the other: a column for each says what differs.
# Those that are not installed are left out. Prints a line of Markdown for each: the samples of all its processes, how many of these have
# frames that a frame pointer found, how many end before the outermost frame, and what differs. Exit status 1: something does.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build rate=1000
modes=()
while getopts b:r:m: name; do
	case $name in
	b) build=$OPTARG ;;
	r) rate=$OPTARG ;;
	m) modes+=("$OPTARG") ;;
	*) sed -n '5p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
waymark=$(cd "$build" && pwd)/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
chmod 1777 .
cargo=$HOME
export HOME=$dir LC_ALL=C.UTF-8
unset WAYMARK_OUT LD_PRELOAD DEBUGINFOD_URLS
failures=0
wanted=" $* "

# differs COMMAND...: under $options as alone, which took the status $alone and printed alone.txt and alone.err? *what: what differs
differs() {
	local sampled=0
	rm -rf out && mkdir -m 1777 out
	# shellcheck disable=SC2086
	timeout -k 5 300 "$waymark" run -q $options -o out/ "$@" >sampled.txt 2>sampled.err </dev/null || sampled=$?
	what=
	[ "$alone" -eq $sampled ] || what="status $sampled, alone $alone; "
	cmp -s alone.txt sampled.txt || what="${what}output: $(diff -a alone.txt sampled.txt | head -n 3 | tr '\n|' '  '); "
	diff -a alone.err <(grep -av '^waymark' sampled.err) >err.diff || what="${what}errors: $(head -n 3 err.diff | tr '\n|' '  '); "
	[ -z "$what" ] || failures=$((failures + 1))
	[ "$alone" -eq 0 ] || [ -n "$what" ] || what="status $alone; "
	[ "${what%:*}" != "$what" ] || what="${what:-as alone; }"
	grep -a '^waymark' sampled.err | head -n 1 >said.txt
	[ ! -s said.txt ] || what="$what$(cut -c 1-150 said.txt | tr '|' ' '); "
}

# How many samples or allocations the recordings have.
recorded() {
	local file
	for file in out/*.wmk; do
		[ -f "$file" ] && "$waymark" report --top=1 "$file" 2>>report.err
	done | tr -d ,~ | awk '/^ *[0-9]+ samples/ { n += $1; unit = " samples" } /^ *[0-9]+  allocations/ { n += $1; unit = " allocations" }
		END { print n + 0 unit }'
}

# try NAME LANGUAGE COMMAND...
try() {
	local name=$1 language=$2 alone=0 what='' options='' file columns=''
	shift 2
	[ "$wanted" = '  ' ] || [ "${wanted#* "$name" }" != "$wanted" ] || return 0
	command -v "$1" >/dev/null || return 0
	rm -rf out && mkdir -m 1777 out
	timeout -k 5 200 "$@" >alone.txt 2>alone.err </dev/null || alone=$?
	for options in ${modes[@]+"${modes[@]}"}; do
		differs "$@"
		columns="$columns $(recorded): ${what%; } |"
	done
	[ -z "$columns" ] || { echo "| $name | $language |$columns"; return; }
	options=--sample=$rate
	differs "$@"
	for file in out/*.wmk; do
		[ -f "$file" ] && "$waymark" report --top=1 "$file" 2>>report.err | sed -n 2p
	done | tr -d , | awk -v name="$name" -v language="$language" -v what="$what" '
		function share(n) { return samples ? sprintf("%.1f %%", 100 * n / samples) : "" }
		{ samples += $1 }
		match($0, /[0-9]+ without outermost/) { cut += substr($0, RSTART) }
		match($0, /[0-9]+ with frames by/) { guessed += substr($0, RSTART) }
		END {
			sub(/; $/, "", what)
			printf "| %s | %s | %d | %s | %s | %s |\n", name, language, samples, share(guessed), share(cut), what
		}'
}

# built COMPILER ARGUMENT...: it is there, and builds
built() {
	command -v "$1" >/dev/null && timeout 300 "$@" >build.txt 2>&1
}

if [ ${#modes[@]} -gt 0 ]; then
	echo "| program | language |$(printf ' `%s` |' "${modes[@]}")"
	echo "|---|---|$(printf -- '---|%.0s' "${modes[@]}")"
else
	echo "| program | language | samples | with frame pointers | without outermost frames | result |"
	echo "|---|---|---|---|---|---|"
fi

# ---- inputs ----

seq 60000 | sed 's/\(.*\)/word\1 some line of text \1 and \1 more/' >text
cat >unit.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) long work(int n) { char *p = malloc(n % 200 + 1); memset(p, n, n % 200 + 1); long r = p[n % 200]; free(p); return r; }
int main(void) { long s = 0; for (int i = 0; i < 4000000; i++) s += work(i); printf("%ld\n", s); return 3; }
E
gcc -O1 -w -o plain unit.c

# ---- runtimes that make code, or have stacks of their own ----

loop='let s = 0, o = {}; for (let i = 0; i < 6e6; i++) { s += i % 7; if (i % 100 == 0) o["k" + i % 1000] = [i, String(i)]; } console.log(s, Object.keys(o).length)'
try node JavaScript node -e "$loop"
try node-native-frames JavaScript node --interpreted-frames-native-stack -e "$loop"
echo 'const { Worker, isMainThread } = require("worker_threads"); if (isMainThread) { let n = 0; for (let i = 0; i < 3; i++) new Worker(__filename).on("exit", () => { if (++n == 3) console.log("done") }) } else { let s = 0; for (let i = 0; i < 1e7; i++) s += i % 7 }' >workers.js
try node-workers JavaScript node workers.js
try ruby Ruby ruby -e 'h = Hash.new(0); 400000.times { |i| h[(i * 7 % 1000).to_s] += i }; puts h.size, h.values.sum'
try ruby-yjit Ruby ruby --yjit -e 'def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; puts f(26); puts (1..20000).map { |x| x.to_s.reverse }.sort.first'
try ruby-fibers Ruby ruby -e 'f = Fiber.new { i = 0; loop { Fiber.yield i += 1 } }; s = 0; 200000.times { s += f.resume }; puts s; Thread.new { puts (1..200000).sum { |x| x.to_s.size } }.join'
try guile Scheme guile -c '(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (display (fib 27)) (newline)'
fib='(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))'
try sbcl Lisp sbcl --noinform --non-interactive --eval "(progn $fib (print (fib 32)) (print (length (loop for i below 300000 collect (list i (princ-to-string i))))))"
try clisp Lisp clisp -q -norc -x "$fib (print (fib 22))"
try ecl Lisp ecl --norc --eval "(progn $fib (print (fib 22)) (quit))"
try gcl Lisp gcl -batch -eval "(progn $fib (print (fib 20)))"
try racket Scheme racket -n -e '(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (displayln (fib 30)) (displayln (length (for/list ([i 200000]) (number->string i))))'
try luajit Lua luajit -e 'local s = 0 for i = 1, 2e7 do s = s + i % 7 end print(s) local t = {} for i = 1, 300000 do t[i] = tostring(i) end table.sort(t) print(t[1])'
try luajit-coroutines Lua luajit -e 'local c = coroutine.wrap(function() local i = 0 while true do i = i + 1 coroutine.yield(i) end end) local s = 0 for i = 1, 2000000 do s = s + c() end print(s)'
try php PHP php -r '$a = []; for ($i = 0; $i < 1500000; $i++) { $a[$i % 5000] = md5((string)$i); } sort($a); echo count($a), $a[0], "\n";'
try php-jit PHP php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M -d opcache.jit=tracing -r 'function f($n) { return $n < 2 ? $n : f($n - 1) + f($n - 2); } echo f(28), "\n";'
try R R Rscript --vanilla -e 'x <- sapply(1:60000, function(i) sum(sqrt(1:20) * i)); cat(sum(x), "\n"); m <- matrix(1:90000 %% 97, 300); cat(sum(m %*% m), "\n")'
try octave Octave octave-cli --norc --eval 's = 0; for i = 1:200000, s = s + mod(i, 7); end; disp(s); A = magic(200); disp(trace(A * A))'
try erl Erlang erl -noshell -eval 'F = fun F(0, S) -> S; F(N, S) -> F(N - 1, S + N rem 7) end, io:format("~p~n", [F(300000, 0)]), L = [begin P = self(), spawn(fun() -> P ! lists:sum(lists:seq(1, 2000)) end), receive X -> X end end || _ <- lists:seq(1, 500)], io:format("~p~n", [lists:sum(L)]), halt().'
try elixir Elixir elixir -e 'IO.puts(Enum.reduce(1..500000, 0, fn x, s -> s + rem(x, 7) end))'
try swipl Prolog swipl -q -g 'numlist(1, 300000, L), foldl([X, A, B]>>(B is A + X mod 7), L, 0, S), writeln(S), halt' -t 'halt(1)'
echo 'public class P { static int F(int n) { return n < 2 ? n : F(n - 1) + F(n - 2); } public static int Main() { System.Console.WriteLine(F(32)); return 5; } }' >p.cs
if built mcs -out:p.exe p.cs; then try mono 'C#' mono p.exe; fi
try gforth Forth gforth -e ': fib dup 2 < if drop 1 else dup 1- recurse swap 2 - recurse + then ; 29 fib . cr bye'
try emacs 'Emacs Lisp' emacs --batch -Q --eval '(let ((s 0)) (dotimes (i 600000) (setq s (+ s (% i 7)))) (princ s) (with-temp-buffer (insert-file-contents "text") (sort-lines nil (point-min) (point-max)) (princ (buffer-size))))'
try qemu-x86_64 'guest code' qemu-x86_64 /usr/bin/seq 1 400000
try qemu-shell 'guest code' qemu-x86_64 /bin/sh -c 'i=0; while [ $((i += 1)) -lt 100000 ]; do :; done; ls -d /usr; kill -9 $$'
echo '<p id=a></p><script>let s = 0; for (let i = 0; i < 3e7; i++) s += i % 7; document.getElementById("a").textContent = s</script>' >page.html
try chromium 'C++' sh -c "chromium --headless --no-sandbox --disable-gpu --dump-dom 'file://$dir/page.html' 2>/dev/null"

# ---- compiled by compilers of many languages ----

cat >o1.ml <<'E'
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () = Printf.printf "%d\n" (fib 34)
E
cat >o2.ml <<'E'
module M = Map.Make (String)
let () =
  let m = ref M.empty in
  for i = 0 to 200000 do m := M.add (string_of_int (i * 7919 mod 50000)) i !m done;
  Printf.printf "%d\n" (M.fold (fun _ v s -> v + s) !m 0);
  Gc.compact ()
E
cat >o3.ml <<'E'
exception Stop of int
let rec f n = if n = 0 then raise (Stop 1) else 1 + f (n - 1)
let () =
  let s = ref 0 in
  for _ = 1 to 20000 do (try ignore (f 100) with Stop k -> s := !s + k) done;
  Printf.printf "%d\n" !s;
  exit 9
E
cat >o4.ml <<'E'
let () =
  let t = List.init 3 (fun k -> Thread.create (fun () -> let s = ref 0 in for i = 0 to 3000000 do s := !s + (i mod (k + 3)) done; ignore (Sys.opaque_identity !s)) ()) in
  List.iter Thread.join t;
  print_endline "threads"
E
cat >o5.ml <<'E'
let () =
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> ()));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.001; it_value = 0.001 });
  let b = Buffer.create 16 in
  for i = 0 to 2000000 do Buffer.add_string b (string_of_int i); if Buffer.length b > 100000 then Buffer.clear b done;
  Printf.printf "%d\n%!" (Buffer.length b);
  match Unix.fork () with
  | 0 -> exit (List.length (List.sort compare (List.init 100000 (fun i -> i * 7919 mod 100003))) mod 7)
  | p -> let rec wait () = try snd (Unix.waitpid [] p) with Unix.Unix_error (Unix.EINTR, _, _) -> wait () in
    (match wait () with Unix.WEXITED n -> Printf.printf "%d\n" n | _ -> print_endline "killed")
E
kinds=(recursion maps exceptions threads signals)
libraries=('' '' '' '-I +threads unix.cmxa threads.cmxa' 'unix.cmxa')
for i in 1 2 3 4 5; do
	# shellcheck disable=SC2086
	if built ocamlopt -o "o$i" ${libraries[i - 1]} "o$i.ml"; then try "ocaml-${kinds[i - 1]}" OCaml "./o$i"; fi
done
try ocamlopt OCaml ocamlopt -c o2.ml
try coqtop OCaml coqtop -batch -q
cat >h.hs <<'E'
import qualified Data.Map.Strict as M
import Control.Concurrent
main :: IO ()
main = do
  print (M.foldl' (+) 0 (M.fromListWith (+) [(i * 7919 `mod` 5003, i) | i <- [1 .. 300000 :: Int]]))
  v <- newEmptyMVar
  _ <- forkIO (putMVar v (length (show (product [1 .. 3000 :: Integer]))))
  takeMVar v >>= print
E
if built ghc -O1 -v0 -o h h.hs; then try ghc-program Haskell ./h; fi
if built ghc -O1 -v0 -threaded -rtsopts -o ht h.hs; then try ghc-threaded Haskell ./ht +RTS -N2; fi
try ghc Haskell ghc -v0 -fforce-recomp -fno-code h.hs
try pandoc Haskell pandoc -f markdown -t html "$here/../../README.md" "$here/../../docs/agent.md"
try shellcheck Haskell shellcheck -s bash "$here/strangers.sh"
try hlint Haskell hlint h.hs
try darcs Haskell darcs --version
cat >cg.go <<'E'
package main

/*
static long twice(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }
*/
import "C"
import "fmt"

func main() {
	var s int64
	c := make(chan int64)
	for g := 0; g < 4; g++ {
		go func() {
			var t int64
			for i := 0; i < 300; i++ {
				t += int64(C.twice(C.long(100000))) & 7
			}
			m := map[string]int{}
			for i := 0; i < 100000; i++ {
				m[fmt.Sprint(i%500)] += i
			}
			c <- t + int64(len(m))
		}()
	}
	for g := 0; g < 4; g++ {
		s += <-c
	}
	fmt.Println(s)
}
E
if built env CGO_ENABLED=1 GO111MODULE=off GOCACHE="$dir/cache" go build -o cg cg.go; then try go-cgo 'Go, C' ./cg; fi
cat >r.rs <<'E'
use std::collections::HashMap;
fn main() {
    let mut m = HashMap::new();
    for i in 0..1_500_000u64 { *m.entry((i * 7919 % 5003).to_string()).or_insert(0u64) += i; }
    let t: Vec<_> = (0..3).map(|k| std::thread::spawn(move || (0..10_000_000u64).map(|i| i % (k + 3)).sum::<u64>())).collect();
    let s: u64 = t.into_iter().map(|t| t.join().unwrap()).sum();
    println!("{} {}", m.values().sum::<u64>(), s);
    let _ = std::panic::catch_unwind(|| ());
}
E
if built env HOME="$cargo" rustc -O -o rust r.rs; then try rust-program Rust ./rust; fi
try rg Rust rg -c 'word.*7.*9' text
try fdfind Rust fdfind -uu -e so --threads 2 . /usr/lib -X true
try batcat Rust batcat --color=always --style=full --paging=never -l c unit.c
printf 'program p\n integer :: i\n real(8) :: s\n s = 0\n do i = 1, 20000000\n  s = s + sqrt(real(i, 8))\n end do\n print *, s\nend program\n' >f.f90
if built gfortran -O1 -o fortran f.f90; then try fortran-program Fortran ./fortran; fi
printf 'with Ada.Text_IO; use Ada.Text_IO;\nprocedure A is\n   task type T; task body T is S : Integer := 0; begin for I in 1 .. 20_000_000 loop S := (S + I) mod 1000; end loop; Put_Line ("done" & S'"'"'Image); end T;\n   X : array (1 .. 2) of T;\nbegin null; end A;\n' >a.adb
if built gnatmake -q -O1 a.adb -o ada; then try ada-program Ada ./ada; fi
printf 'program p; uses cthreads, SysUtils, Classes; var i: longint; l: TStringList; begin l := TStringList.Create; for i := 1 to 60000 do l.Add(IntToStr(i * 7919 mod 50021)); l.Sort; writeln(l[100]); end.\n' >pas.pas
if built fpc -v0 -Mobjfpc -opascal pas.pas; then try pascal-program Pascal ./pascal; fi
printf 'import tables, strutils\nvar t = initTable[string, int]()\nfor i in 0 ..< 400000:\n  t[$(i mod 3000)] = t.getOrDefault($(i mod 3000)) + i\necho t.len\n' >n.nim
if built nim c --hints:off -d:release -o:nimp n.nim; then try nim-program Nim ./nimp; fi
printf 'import std.stdio, std.algorithm, std.array, std.conv, std.range;\nvoid main() { auto a = iota(300000).map!(i => (i * 7919L %% 100003).to!string).array; a.sort(); writeln(a[77]); int[string] m; foreach (s; a) m[s]++; writeln(m.length); }\n' >d.d
if built ldc2 -O1 -of=dprog d.d; then try d-program D ./dprog; fi
printf 'h = Hash(String, Int32).new(0)\n400000.times { |i| h[(i %% 3000).to_s] += i %% 7 }\nputs h.size\nch = Channel(Int32).new\n10.times { |k| spawn { ch.send((1..20000).sum { |x| x %% (k + 2) }) } }\ns = 0\n10.times { s += ch.receive }\nputs s\n' >c.cr
if built crystal build -o cryst c.cr; then try crystal-program Crystal ./cryst; fi
try tcc C tcc -run unit.c
printf 'section .text\nglobal main\nextern printf\nmain:\n push rbp\n xor eax, eax\n mov ecx, 400000000\n.l: add rax, rcx\n dec ecx\n jnz .l\n mov rsi, rax\n lea rdi, [rel f]\n xor eax, eax\n call printf wrt ..plt\n mov eax, 6\n pop rbp\n ret\nsection .rodata\nf: db "%%ld", 10, 0\nsection .note.GNU-stack noalloc noexec nowrite progbits\n' >x.asm
if built nasm -f elf64 x.asm && gcc -o asm x.o; then try nasm-program assembly ./asm; fi

# ---- allocators, unwinders, small stacks ----

for library in tcmalloc jemalloc tcmalloc_minimal; do
	if built gcc -O1 -w -o "with-$library" unit.c -Wl,--no-as-needed "-l$library"; then try "$library" C "./with-$library"; fi
done
cat >unwind.c <<'E'
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
static __attribute__((noinline)) int deep(int n) { if (n) return deep(n - 1) + 1; unw_context_t c; unw_cursor_t u; int k = 0; unw_getcontext(&c); unw_init_local(&u, &c); while (unw_step(&u) > 0) k++; return k; }
int main(void) { long s = 0; for (int i = 0; i < 4000; i++) s += deep(i % 40); printf("%ld\n", s); return 0; }
E
if built gcc -O1 -w -o unwind unwind.c -lunwind; then try libunwind C ./unwind; fi
cat >small.c <<'E'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile int n; static volatile long s;
static void h(int g) { n = 1; for (int i = 0; i < 300000; i++) s += i; }
int main(void) { stack_t t = {.ss_sp = malloc(3072), .ss_size = 3072}; struct sigaction a = {.sa_handler = h, .sa_flags = SA_ONSTACK | SA_RESTART}; struct itimerval v = {{0, 2000}, {0, 2000}};
 if (sigaltstack(&t, 0)) perror("stack"); sigaction(SIGALRM, &a, 0); setitimer(ITIMER_REAL, &v, 0); for (int i = 0; i < 100000000; i++) s += i; printf("%d\n", n); return 0; }
E
if built gcc -O1 -w -o small small.c; then try stack-of-3-KB C ./small; fi

# ---- others ----

printf 'import std.stdio, std.algorithm, std.conv;\nclass C { int v; this(int v) { this.v = v; } }\nvoid main() { C[string] m; foreach (i; 0 .. 200000) m[to!string(i %% 5000)] = new C(i); auto k = m.keys; sort(k); writeln(k[3], " ", m.length); }\n' >g.d
if built gdc -O1 -o gdcprog g.d; then try gdc-program D ./gdcprog; fi
echo '(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (display (fib 25)) (newline)' >fib.scm
try chicken Scheme csi -ns fib.scm -e '(exit 0)'
if built csc -O2 -o chicken fib.scm; then try chicken-program Scheme ./chicken; fi
try gambit Scheme gsi fib.scm
printf ':- initialization(main).\nf(0, S, S) :- !.\nf(N, S, R) :- M is N - 1, T is (S + N * N) mod 1000007, f(M, T, R).\nmain :- f(300000, 0, R), write(R), nl.\n' >p.pl
if built gplc --no-top-level -o prolog p.pl; then try gprolog-program Prolog ./prolog; fi
try hledger Haskell sh -c 'for i in $(seq 2000); do printf "2024-01-%02d shop %d\n  food  %d.50 EUR\n  cash\n\n" $((i % 28 + 1)) $i $i; done | hledger -f - balance'
try unison OCaml sh -c 'rm -rf u; mkdir -p u/a u/b u/h; i=0; while [ $((i += 1)) -le 150 ]; do echo $i >u/a/$i; done; HOME=$PWD/u/h UNISON=$PWD/u/h unison u/a u/b -batch -silent -auto; ls u/b | wc -l'
try exa Rust exa -lR --no-user --no-time --no-permissions --color=never /usr/lib/x86_64-linux-gnu
try rclone Go sh -c 'rclone --config=none.conf -q hashsum MD5 /usr/share/perl5 2>/dev/null | sort'
try hugo 'Go, C' sh -c 'rm -rf site; hugo new site site --quiet >/dev/null; cd site; i=0; while [ $((i += 1)) -le 60 ]; do printf -- "---\ntitle: t%s\n---\n# head\ntext *%s*\n" $i $i >content/$i.md; done; hugo --quiet; ls public'
printf '(declare-fun x () Int)(declare-fun y () Int)(assert (and (> x 2) (< (* x y) 4000) (= (+ (* x x) (* y y)) 3425)))(check-sat)' >x.smt
try z3 'C++' z3 -T:60 x.smt
try dot C sh -c 'awk "BEGIN { print \"digraph {\"; for (i = 0; i < 150; i++) print i, \"->\", i * 7 % 150; print \"}\" }" | dot -Tplain | md5sum'
try povray 'C++' sh -c 'echo "camera { location <0,2,-4> look_at 0 } light_source { <4,8,-6> 1 } sphere { 0, 1 pigment { rgb x } finish { reflection .5 } }" >s.pov; povray -D +Is.pov +Os.png +W200 +H200 +WT2 2>/dev/null; wc -c <s.png'
try ledger 'C++' sh -c 'for i in $(seq 3000); do printf "2024/01/%02d shop\n  food  %d.50 EUR\n  cash\n\n" $((i % 28 + 1)) $i; done | ledger -f - balance'
try gprbuild Ada sh -c 'mkdir -p ob; echo "project P is for Object_Dir use \"ob\"; for Source_Dirs use (\"ada\"); for Main use (\"m.adb\"); end P;" >p.gpr; mkdir -p ada; echo "with Ada.Text_IO; procedure M is begin Ada.Text_IO.Put_Line (\"m\"); end M;" >ada/m.adb; gprbuild -f -q -P p.gpr && ob/m'
try expect Tcl expect -c 'set s 0; for {set i 0} {$i < 200000} {incr i} { incr s [string length "x$i"] }; puts $s; spawn -noecho echo hi; expect hi; exit 3'
try gcl-fib Lisp gcl -batch -eval "(progn $fib (print (fib 18)))"
try sox C sox -n -t wav -r 44100 -D - synth 6 sine 300-3300 reverb
try pypy3 Python pypy3 -c 'd = {}
for i in range(3000000): d[i % 1000] = d.get(i % 1000, 0) + i
print(sum(d.values()))'
try poly ML sh -c 'echo "fun fib n = if n < 2 then n else fib (n - 1) + fib (n - 2); print (Int.toString (fib 35) ^ \"\\n\");" | poly -q --error-exit'
try iverilog 'C++' sh -c 'echo "module t; integer i, s; initial begin s = 0; for (i = 0; i < 300000; i = i + 1) s = (s + i) % 1009; \$display(s); end endmodule" >t.v; iverilog -o t.vvp t.v && vvp -n t.vvp'
try ngspice C sh -c 'printf "rc\nv1 1 0 sin(0 1 1k)\nr1 1 2 1k\nc1 2 0 1u\n.tran 1u 20m\n.print tran v(2)\n.end\n" >rc.cir; ngspice -b rc.cir 2>/dev/null | grep "^[0-9]" | md5sum'
try stockfish 'C++' sh -c 'printf "go depth 12\n" | (cat; sleep 2) | stockfish | grep -c "info depth"'
try hg Python sh -c 'rm -rf hg; hg init hg; cd hg; seq 20000 >f; hg add f; hg commit -u u -d "0 0" -m one; seq 3 20003 >f; hg diff --git | md5sum; hg log --template "{node}\n"'
try yasm C sh -c 'i=0; while [ $((i += 1)) -le 4000 ]; do echo "l$i: mov rax, [rbx + $i]"; done >y.asm; yasm -f elf64 -o y.o y.asm; md5sum y.o'
try sassc 'C++' sh -c 'echo "@for \$i from 1 through 1500 { .c-#{\$i} { width: percentage(\$i / 1500); color: mix(red, blue, \$i * 100% / 1500); } }" | sassc -s | md5sum'
try doxygen 'C++' sh -c 'rm -rf dx; mkdir dx; cp unit.c dx; cd dx; printf "INPUT=unit.c\nQUIET=YES\nEXTRACT_ALL=YES\nGENERATE_LATEX=NO\nHAVE_DOT=NO\nHTML_TIMESTAMP=NO\n" | doxygen - >/dev/null; ls html | wc -l'

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
cat >pg.sh <<E
rm -rf pg/data
$bin/initdb -D pg/data --no-sync -A trust >/dev/null || exit 1
printf "create table t as select x, x * 7 %% 1000 y from generate_series(1, 50000) x;\nselect count(*), sum(y) from t where y < 500 group by y %% 2 order by 1, 2;\n" | $bin/postgres --single -D pg/data postgres 2>/dev/null | grep '"'
E
mkdir -m 1777 pg
if [ -n "$bin" ] && [ "$(id -u)" = 0 ]; then try postgres C setpriv --reuid=nobody --clear-groups sh pg.sh; fi
if [ -n "$bin" ] && [ "$(id -u)" != 0 ]; then try postgres C sh pg.sh; fi
try openssl 'C, assembly' openssl dgst -sha3-512 /usr/bin/perl /usr/bin/git /usr/bin/gdb
try gp 'C, assembly' sh -c 'echo "print(#digits(30000!));print(factor(2^101-1))" | gp -q -f'
try gap 'C, GAP' sh -c 'echo "Print(Size(SymmetricGroup(20)),\"\n\");Print(Factors(2^97-1),\"\n\");" | gap -q'
try maxima Lisp maxima --very-quiet --batch-string='factor(2^89-1); integrate(1/(1+x^4), x);'
try gnuplot C gnuplot -e 'set terminal dumb; plot for [i=1:30] sin(i*x)'
try x264 'C, assembly' sh -c 'x264 --quiet --no-progress --log-level none --threads 2 --demuxer raw --input-res 320x240 --fps 25 --frames 20 -o out.264 /usr/bin/gdb 2>/dev/null; md5sum out.264'
try ffmpeg 'C, assembly' ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=25:duration=2 -c:v libx264 -threads 2 -f framemd5 -
try convert C convert -seed 7 -size 400x400 plasma:red -blur 0x4 -colorspace Gray -format '%[mean]\n' info:
try gdb 'C++' gdb -batch -nx -ex 'info functions main' ./plain
try cmake 'C++' cmake --help-manual cmake-commands
try git C git -c safe.directory='*' --no-pager -C "$here/../.." log --stat -n 100
try vim C vim -u NONE -es -c 'e text' -c '%s/word\(\d*\)/\1drow/g' -c '1,3p' -c 'q!'
try tclsh Tcl sh -c 'echo "set s 0; for {set i 0} {\$i < 1000000} {incr i} {incr s [expr {\$i % 7}]}; puts \$s" | tclsh'
try bc C sh -c 'echo "scale=500; 4*a(1)" | bc -l | tail -n 1'
try groff 'C++' sh -c 'zcat -f /usr/share/man/man1/bash.1.gz unit.c | groff -man -Tascii'
try sort C sort -r text
try xz C sh -c 'xz -9 -T2 -c text | md5sum'
try curl C curl -s -o /dev/null "file://$dir/text"
try clang 'C++' clang -O2 -c -o clang.o unit.c
try rustc Rust env HOME="$cargo" rustc -O -o rust2 r.rs
try cc1plus 'C++' g++ -O2 -x c++ -fpermissive -w -c -o cxx.o unit.c
[ $failures -eq 0 ]
