#!/bin/sh
# run.sh BUILD-DIR - `waymark cc` and `waymark c++` as a stand-in for clang: every kind of call a build system makes, its exit
# status and diagnostics beside clang's own, and that what it links decodes.
set -u
# The sanitized command alone where there is one: what it makes is the same (tests/support/twice.sh).
build=${WAYMARK_SANITIZED:-$(cd "$1" && pwd)}
cc="$build/waymark cc"
cxx="$build/waymark c++"
decode="$build/waymark decode --folded"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-cc.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_CC WAYMARK_CXX
cd "$tmp" || exit 1
failed=0

fail() {
	echo "FAIL $*"
	failed=$((failed + 1))
}
# check NAME COMMAND...: the command succeeds
check() {
	name=$1
	shift
	"$@" >out 2>&1 || { fail "$name: $*"; sed 's/^/     /' out | head -20; }
}
# same NAME ARGUMENTS...: waymark cc and clang print and return the same
same() {
	name=$1
	shift
	clang-19 "$@" >clang.out 2>clang.err
	clang_status=$?
	$cc "$@" >waymark.out 2>waymark.err
	[ $? = $clang_status ] || fail "$name: exit status differs from clang's $clang_status: $*"
	cmp -s clang.out waymark.out || fail "$name: output differs: $*"
	cmp -s clang.err waymark.err || { fail "$name: diagnostics differ: $*"; diff clang.err waymark.err | head -5; }
}
# prints NAME PROGRAM EXPECTED: what it prints decodes to that
prints() {
	./"$2" >tokens 2>&1
	got=$($decode --exe "$2" tokens | tr '\n' ' ')
	[ "$got" = "$3 " ] || fail "$1: decoded '$got', want '$3 '"
}

cat >show.h <<'E2'
#include <stdio.h>
#include <waymark.h>
static inline void show(wm_context c)
{
	char token[WM_TOKEN_MAX];
	wm_token(c, token, sizeof token);
	puts(token);
}
E2
cat >main.c <<'E2'
#include "show.h"
void part(void);
int main(void)
{
	show(wm_capture());
	part();
	return 0;
}
E2
cat >part.c <<'E2'
#include "show.h"
void part(void);
__attribute__((noinline)) void part(void)
{
	show(wm_capture());
}
E2
cat >plain.c <<'E2'
int main(void) { return 3; }
E2
cat >plain.cpp <<'E2'
#include <vector>
int main() { return int(std::vector<int>{1, 2}.size()); }
E2
cat >broken.c <<'E2'
int main(void) { return undeclared; }
E2
cat >start.S <<'E2'
	.globl from_assembly
from_assembly:
	movl $5, %eax
	ret
	.section .note.GNU-stack,"",@progbits
E2
printf 'int from_assembly(void);\nint main(void) { return from_assembly(); }\n' >calls.c

# One step, two steps, and every way to name outputs.
check "compile and link at once" $cc -O2 main.c part.c -o one
prints "compile and link at once" one "main main;part"
check "separate objects" $cc -c main.c part.c
check "link objects" $cc main.o part.o -o two
prints "link objects" two "main main;part"
check "-c -o, joined -o" $cc -O1 -c main.c -o m.o
check "joined -o" $cc m.o part.o -othree
prints "joined -o" three "main main;part"
check "default output" $cc plain.c
./a.out
[ $? = 3 ] || fail "default output: a.out does not run"
check "static archive by the system's ar" sh -c "ar rcs libpart.a part.o && nm libpart.a | grep -q ' T part' && ranlib libpart.a"
check "link an archive" $cc main.o -L. -lpart -o four
prints "link an archive" four "main main;part"
check "shared library" $cc -shared -fPIC -Wl,-soname,libpart.so part.c -o libpart.so
check "link a shared library" $cc main.c ./libpart.so -Wl,-rpath,. -o five
./five >tokens
[ "$($decode --exe five --exe libpart.so tokens | tr '\n' ' ')" = "main main;part " ] || fail "shared library: wrong contexts"
check "static program" $cc -static main.c part.c -o six
prints "static program" six "main main;part"
check "no PIE" $cc -no-pie main.c part.c -o seven
prints "no PIE" seven "main main;part"
check "relocatable link" $cc -r main.o part.o -o whole.o
check "link the relocatable" $cc whole.o -o eight
check "GNU ld -r" sh -c "ld -r main.o part.o -o gnu.o && $cc gnu.o -o gnu"
[ "$(./gnu | grep -c '^wm1:')" = 2 ] || fail "GNU ld -r: the program does not run"
check "assembly source" $cc calls.c start.S -o nine
./nine
[ $? = 5 ] || fail "assembly source: wrong result"
check "-S and assemble" sh -c "$cc -O2 -S main.c part.c && $cc main.s part.s -o ten"
prints "-S and assemble" ten "main main;part"
check "C++" $cxx plain.cpp -o cxx
./cxx
[ $? = 2 ] || fail "C++: wrong result"
check "gcc's object" sh -c "gcc -c plain.c -o gcc.o && $cc gcc.o -o gccprog"
check "-x and standard input" sh -c "$cc -x c - -o stdin <plain.c"
printf -- '-O2 "main.c" part.c\n-o response' >args
check "@file" $cc @args
prints "@file" response "main main;part"
printf -- '-shared -fPIC part.c -o libresponse.so' >args
check "@file that says -shared" $cc @args
check "stripped at link" $cc -s main.c part.c -o stripped
check "exports in spite of a version script" sh -c "echo '{ global: main; gone; local: *; };' >script &&
	$cc main.c part.c -Wl,--version-script=script -o script.exe &&
	readelf --dyn-syms -W script.exe | grep -q wm1_capture"
check "exports in spite of a version script in a file of the linker's" sh -c "echo --version-script=script >linker.args &&
	$cc main.c part.c -Wl,@linker.args -o script.exe &&
	readelf --dyn-syms -W script.exe | grep -q wm1_capture"
# A version script may name what is not defined, as for GNU ld; the library exports the same.
cat >versions.c <<'E2'
int one(void), two(void), old_three(void), new_three(void), inner(void);
__asm__(".symver old_three, three@V_1");
__asm__(".symver new_three, three@@V_2");
int inner(void) { return 1; }
int one(void) { return inner(); }
int two(void) { return 2 + one(); }
int old_three(void) { return 3; }
int new_three(void) { return 3; }
E2
cat >versions.map <<'E2'
V_1 { global: one; gone; three; local: *; };
V_2 { global: two; three; also_gone; lost_*; extern "C++" { "no::such(int)"; }; } V_1;
E2
exported() { readelf --dyn-syms -W "$1" | awk '$4 == "FUNC" && $7 != "UND" { print $5, $6, $8 }' | LC_ALL=C sort; }
gcc -shared -fPIC versions.c -Wl,--version-script=versions.map -o libgnu.so || fail "version script: GNU ld refuses it"
exported libgnu.so >gnu.txt
[ "$(wc -l <gnu.txt)" = 4 ] || fail "version script: GNU ld exports: $(cat gnu.txt)"
for what in contexts paths trace trace,paths; do
	check "version script with --wm=$what" $cc --wm=$what -O2 -shared -fPIC versions.c -Wl,--version-script=versions.map -o libversions.so
	exported libversions.so | cmp -s gnu.txt - || fail "version script with --wm=$what: exports $(exported libversions.so | tr '\n' ' ')"
done
$cc -shared -fPIC versions.c -Wl,--version-script=versions.map,--no-undefined-version -o refused.so >out 2>&1 &&
	fail "version script: --no-undefined-version is not honoured"
grep -q 'symbol not defined' out || fail "version script: --no-undefined-version: $(head -1 out)"
# says NAME TEXT COMMAND...: the command succeeds, with one line on standard error that has TEXT in it; quiet: with none
says() {
	name=$1 text=$2
	shift 2
	"$@" 2>err || fail "$name: exit status $?"
	[ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err || fail "$name: says: $(head -3 err)"
}
quiet() {
	name=$1
	shift
	"$@" 2>err || fail "$name: exit status $?"
	[ ! -s err ] || fail "$name: says: $(head -3 err)"
}
# foreign NAME PROGRAM OBJECTS MEMBERS: what waymark graph says of its objects without bitcode
foreign() {
	got=$("$build/waymark" graph --format=json "$2" | sed -n 's/.*"foreign_\(objects\|members\)": \([0-9]*\).*/\2/p' | tr '\n' ' ')
	[ "$got" = "$3 $4 " ] || fail "$1: waymark graph says '$got', want '$3 $4 '"
}
# Objects whose bitcode cannot be used: linked as machine code, as any linker would, and that is said.
cat >number.c <<'E2'
#include <stdio.h>
#include <waymark.h>
int one(void), two(void);
int main(void)
{
	char token[WM_TOKEN_MAX];
	wm_token(wm_capture(), token, sizeof token);
	fprintf(stderr, "%s\n", token);
	return printf("%d %d\n", one(), two()) < 0;
}
E2
printf 'int one(void);\nint one(void) { return 1; }\n' >one.c
printf 'int two(void), three(void);\nint two(void) { return 2; }\nint three(void) { return 3; }\n' >two.c
printf 'int three(void), four(void);\nint four(void) { return three(); }\n' >four.c
printf 'int one(void);\nint one(void) { return 7; }\n' >seven.c
$cc -O1 -fPIC -c number.c one.c two.c four.c seven.c
quiet "nothing changed" $cc number.o one.o two.o -o number
foreign "nothing changed" number 0 0
objcopy --redefine-sym one=two --redefine-sym main=start two.o unchanged.o
strip -g unchanged.o
quiet "objcopy of names that are not there, strip -g" $cc number.o one.o unchanged.o -o number
foreign "objcopy of names that are not there" number 0 0
# compares NAME OBJECT-ARGUMENT...: the program that clang and its linker make of the machine code prints the same
compares() {
	name=$1
	shift
	clang-19 "$@" -L"$build/src/runtime" -Wl,-rpath,"$build/src/runtime" -lwaymark-rt -o number.clang 2>out || fail "$name: clang: $(cat out)"
	./number.clang 2>/dev/null >want
	./number 2>/dev/null | cmp -s want - || fail "$name: prints $(./number 2>&1), want $(cat want)"
}
for tool in objcopy llvm-objcopy-19; do
	$tool --redefine-sym two=one --redefine-sym three=two two.o defined.o # now one() is 2 and two() is 3
	says "$tool of a definition" "defined.o: machine code and bitcode differ in the symbol" $cc number.o defined.o -o number
	compares "$tool of a definition" number.o defined.o
	foreign "$tool of a definition" number 1 0
	$tool --redefine-sym one=four number.o reference.o # calls four() in place of one()
	says "$tool of a reference" "reference.o: machine code and bitcode differ in the symbol four" $cc reference.o two.o four.o -o number
	compares "$tool of a reference" reference.o two.o four.o
	rm -f libdefined.a
	ar rcs libdefined.a defined.o four.o
	says "$tool in an archive" "./libdefined.a(defined.o): machine code" $cc number.o -L. -ldefined -o number
	compares "$tool in an archive" number.o -L. -ldefined
	foreign "$tool in an archive" number 0 1
	$tool --localize-symbol=one one.o hidden.o
	says "$tool that hides a definition" "hidden.o: machine code" $cc number.o hidden.o seven.o two.o -o number
	compares "$tool that hides a definition" number.o hidden.o seven.o two.o
done
ld -r one.o two.o -o merged.o 2>/dev/null
says "GNU ld -r" "merged.o: ld -r merged the bitcode" $cc number.o merged.o -o number
compares "GNU ld -r" number.o merged.o
foreign "GNU ld -r" number 1 0
says "-r" "-r: relocatable.o has no bitcode" $cc -r one.o two.o -o relocatable.o
quiet "what -r made" $cc number.o relocatable.o -o number
compares "what -r made" number.o relocatable.o
foreign "what -r made" number 1 0
gcc -c one.c -o gcc.o
quiet "another compiler's object" $cc number.o gcc.o two.o -o number
foreign "another compiler's object" number 1 0
says "-fuse-ld=bfd" "-fuse-ld=bfd: linked with lld" $cc -fuse-ld=bfd number.o one.o two.o -o number
foreign "-fuse-ld=bfd" number 0 0
quiet "-fuse-ld=lld" $cc -fuse-ld=lld number.o one.o two.o -o number

# -fno-lto: what is compiled has no bitcode, what is linked is not instrumented, in one step and in two.
for what in contexts trace "contexts,paths --wm-stage=final"; do
	# shellcheck disable=SC2086 # lists of words
	check "--wm=$what: objects" $cc --wm=$what -c number.c one.c two.c
	for words in "number.c one.c two.c" "number.o one.o two.o"; do
		# shellcheck disable=SC2086
		quiet "-fno-lto --wm=$what $words" $cc -fno-lto --wm=$what $words -o nolto
		[ "$(./nolto 2>/dev/null)" = "1 2" ] || fail "-fno-lto --wm=$what $words: does not run"
		readelf -SW nolto | grep -q '\.debug_waymark' && fail "-fno-lto --wm=$what $words: is instrumented"
		readelf -SW nolto | grep -q '\.llvm\.lto' && fail "-fno-lto --wm=$what $words: has bitcode"
	done
done

# A response file that can be read once, whose words have all that needs quotes; our own options may be in it.
mkfifo pipe
cat >quoted.c <<'E2'
#include <stdio.h>
int main(void) { puts(TEXT); }
E2
for what in contexts none; do
	cat >args.clang <<'E2'
'-DTEXT="a \\"b\\" \\\\c"' -O1 "quo"ted.c -o from\ pipe
E2
	{ echo "--wm=$what" && cat args.clang; } >args
	clang-19 @args.clang -o from.clang || fail "response file: clang refuses it"
	timeout 60 sh -c 'cat args >pipe' &
	check "--wm=$what: response file from a pipe" timeout 20 $cc @pipe
	[ "$(./from\ pipe)" = "$(./from.clang)" ] || fail "--wm=$what: response file from a pipe: prints '$(./from\ pipe)'"
	readelf -SW 'from pipe' | grep -q '\.debug_waymark' && kind=contexts || kind=none
	[ $kind = $what ] || fail "--wm=$what in a response file is not honoured"
	rm -f 'from pipe'
done
for level in 0 1 2 3 s z; do
	check "-O$level" $cc -O$level main.c part.c -o level
	prints "-O$level" level "main main;part"
done
check "ThinLTO asked for" $cc -flto=thin -O2 main.c part.c -o thin
prints "ThinLTO asked for" thin "main main;part"
check "no LTO asked for: foreign code" $cc -fno-lto -c part.c -o foreign.o
check "link with it" $cc main.c foreign.o -o mixed
check "--wm=none" $cc --wm=none plain.c -o none
check "--wm=contexts" $cc --wm=contexts plain.c -o contexts
check "-flto asked for, trace of the source" $cc --wm=trace --wm-stage=source -flto -O2 main.c part.c -o traced
readelf -SW traced | grep -q llvm_bb_addr_map || fail "-flto asked for, trace of the source: no map of blocks"
for what in trace "trace --wm-stage=source"; do
	# shellcheck disable=SC2086 # a list of words
	check "waymark.h with --wm=$what alone" $cc --wm=$what main.c part.c -o alone
	./alone >out || fail "waymark.h with --wm=$what alone: does not run"
done
check "one-word name" "$build/waymark-cc" plain.c -o word
check "-Werror takes our flags" $cc -Werror -Wall -Wextra -c plain.c
check "-Werror at the link" $cc -Werror plain.o -o werror

# Questions, and what a configure script compares.
same "version" --version
same "-dumpversion" -dumpversion
same "-dumpmachine" -dumpmachine
same "-print-search-dirs" -print-search-dirs
same "-print-prog-name" -print-prog-name=ld
same "-print-file-name" -print-file-name=libgcc.a
same "-print-multi-os-directory" -print-multi-os-directory
same "-v alone" -v
same "no input" -O2
same "missing file" -c nothing.c
same "broken source" -c broken.c
same "unknown option" --no-such-option plain.c
same "syntax only" -fsyntax-only broken.c
same "dependencies" -M plain.c
same "dependencies of quoted headers" -MM plain.c
check "-MD -MF -MT" $cc -MD -MF deps.d -MT target -c plain.c
grep -q '^target: plain.c' deps.d || fail "-MD -MF -MT: wrong dependency file"
$cc -E plain.c | grep -q 'return 3' || fail "-E: nothing preprocessed"
$cc -E -dM plain.c | grep -q '__WAYMARK__ 1' || fail "-dM: __WAYMARK__ is not defined"
same "--wm=none -dM" --target=i386-linux-gnu -E -dM plain.c
printf 'int f(void); int main(void) { return f(); }' >undefined.c
$cc undefined.c -o undefined >out 2>&1 && fail "undefined symbol: the link succeeds"
[ -e undefined ] && fail "undefined symbol: a program is left"

# Paths: which flags each step gets, and what the pass is told.
cat >told <<'E2'
#!/bin/sh
[ "$*" = -dumpversion ] && echo 19.1.7 && exit
env | grep -E '^WAYMARK_(CONTEXTS|PATHS)' | LC_ALL=C sort | tr '\n' ' '
E2
chmod +x told
touch plan.wmk
# told NAME EXPECTED OPTION...: the environment of clang, after one that must not leak in
told() {
	name=$1 want=$2
	shift 2
	got=$(WAYMARK_CONTEXTS=old WAYMARK_PATHS=old WAYMARK_PATHS_PLAN=old WAYMARK_PATHS_ARRAY=1 WAYMARK_PATHS_HASH=old \
		WAYMARK_CC=$tmp/told $cc "$@" -c plain.c)
	[ "$got" = "${want:+$want }" ] || fail "$name: clang is told '$got', want '$want'"
}
told "default" "WAYMARK_CONTEXTS=1"
told "contexts" "WAYMARK_CONTEXTS=1" --wm=contexts
told "none" "" --wm=none
told "paths" "WAYMARK_PATHS=source" --wm=paths
told "both" "WAYMARK_CONTEXTS=1 WAYMARK_PATHS=source" --wm=contexts,paths
told "both, the other way round" "WAYMARK_CONTEXTS=1 WAYMARK_PATHS=final" --wm=paths,contexts --wm-stage=final
told "the last counts" "WAYMARK_PATHS=source" --wm=none --wm-stage=final --wm=paths --wm-stage=source
told "none after paths" "" --wm=paths --wm-plan=plan.wmk --wm-path-array=5 --wm=none
told "all options" "WAYMARK_PATHS=final WAYMARK_PATHS_ARRAY=64 WAYMARK_PATHS_HASH=call WAYMARK_PATHS_PLAN=$(pwd -P)/plan.wmk" \
	--wm=paths --wm-stage=final --wm-path-array=64 --wm-path-hash=call --wm-plan=./plan.wmk
told "another target" "" --wm=paths -m32

# flags NAME WANTED UNWANTED OPTION...: what clang would run with; words of WANTED and UNWANTED are patterns
flags() {
	name=$1 want=$2 unwanted=$3
	shift 3
	$cc "$@" -### >out 2>&1 || fail "$name: exit status $?"
	for pattern in $want; do
		grep -q -e "$pattern" out || fail "$name: no $pattern in what clang runs: $*"
	done
	for pattern in $unwanted; do
		grep -q -e "$pattern" out && fail "$name: $pattern in what clang runs: $*"
	done
}
lto='-flto=full -ffat-lto-objects'
runtime='waymark-keep.o waymark-rt.o --build-id __ehdr_start lld'
flags "compile contexts" "-fpass-plugin= $lto" "" -c plain.c
flags "compile paths" "-fpass-plugin= debug-info-kind" "$lto" --wm=paths -c plain.c
flags "compile final paths" "-fpass-plugin= $lto" "disable-lifetime-markers" --wm=paths --wm-stage=final -c plain.c
flags "compile both" "-fpass-plugin= $lto" "" --wm=contexts,paths -c plain.c
flags "compile both, final" "-fpass-plugin= $lto" "disable-lifetime-markers" --wm=contexts,paths --wm-stage=final -c plain.c
flags "compile paths without LTO" "-fpass-plugin=" "$lto" --wm=contexts,paths -fno-lto -c plain.c
flags "link paths" "$runtime" "load-pass-plugin fat-lto" --wm=paths plain.o -o x
flags "link final paths" "$runtime load-pass-plugin" "" --wm=paths --wm-stage=final plain.o -o x
flags "link both" "$runtime load-pass-plugin" "" --wm=contexts,paths plain.o -o x
flags "link paths, shared" "libwaymark-rt.so --build-id __ehdr_start" "load-pass-plugin fat-lto" --wm=paths -shared plain.o -o x
flags "paths without a C library" "" "fpass-plugin libwaymark" --wm=paths -nostdlib plain.c -o x
flags "link trace" "libwaymark-trace.a load-pass-plugin --build-id lto-basic-block-address-map" "libwaymark-rt" --wm=trace plain.o -o x
flags "trace, source" "fpass-plugin fbasic-block-address-map lto-basic-block-address-map" "load-pass-plugin __WAYMARK__" --wm=trace --wm-stage=source plain.c -o x
flags "link all" "$runtime libwaymark-trace.a" "" --wm=contexts,paths,trace plain.o -o x
flags "paths, relocatable" "fpass-plugin" "libwaymark" --wm=paths -r plain.c -o x
echo 'main=cc # why
*=none|pt|stmt' >rules
for stage in source final; do
	for what in paths contexts,paths "trace=@$tmp/rules"; do
		pcc="$cc --wm=$what --wm-stage=$stage" pcxx="$cxx --wm=$what --wm-stage=$stage"
		check "$what, $stage: one step" $pcc -Werror -Wall -O2 main.c part.c -o one
		check "$what, $stage: runs" ./one
		check "$what, $stage: objects" $pcc -Werror -c main.c part.c
		check "$what, $stage: archive and link" sh -c "rm -f libpart.a libpart.so && ar rcs libpart.a part.o && $pcc -Werror main.o -L. -lpart -o two && ./two"
		check "$what, $stage: shared library" sh -c "$pcc -shared -fPIC part.c -o libpart.so && $pcc main.c ./libpart.so -Wl,-rpath,. -o three && ./three"
		check "$what, $stage: static" sh -c "$pcc -static main.c part.c -o four && ./four"
		check "$what, $stage: assembly" sh -c "$pcc -Werror calls.c start.S -o five && ./five; [ \$? = 5 ]"
		check "$what, $stage: assemble only" $pcc -Werror -c start.S
		check "$what, $stage: -S and assemble" sh -c "$pcc -Werror -S main.c part.c && $pcc -Werror main.s part.s -o six && ./six"
		check "$what, $stage: preprocess" sh -c "$pcc -Werror -E plain.c >plain.i && $pcc -Werror plain.i -o seven; ./seven; [ \$? = 3 ]"
		check "$what, $stage: syntax only" $pcc -Werror -fsyntax-only plain.c
		check "$what, $stage: relocatable" sh -c "$pcc -r main.o part.o -o whole.o && $pcc whole.o -o eight && ./eight"
		check "$what, $stage: GNU ld -r" sh -c "ld -r main.o part.o -o gnu.o && $pcc gnu.o -o nine && ./nine"
		check "$what, $stage: C++" sh -c "$pcxx -Werror plain.cpp -o ten; ./ten; [ \$? = 2 ]"
		check "$what, $stage: the user's LTO" sh -c "$pcc -Werror -flto -O2 main.c part.c -o eleven && ./eleven"
	done
done

# A sanitizer runs once over the code, and once only: the objects have bitcode and no code, and its text has each report of clang's own code once.
cat >bounds.c <<'E2'
int sum(const int *values, int count)
{
	int result = 0;
	for (int i = 0; i < count; i++)
		result += values[i];
	return result;
}
E2
calls_in() { grep -c "call.* $1" "$2"; }
for sanitizer in address:@__asan_report_load4 memory:@__msan_warning thread:@__tsan_read4; do
	option=-fsanitize=${sanitizer%:*} report=${sanitizer#*:}
	clang-19 -O1 $option -S -emit-llvm bounds.c -o clang.ll
	$cc -O1 $option -c bounds.c -o bounds.o && llvm-objcopy-19 --dump-section .llvm.lto=bounds.bc bounds.o && llvm-dis-19 bounds.bc -o ours.ll || fail "$option: no bitcode"
	want=$(calls_in $report clang.ll) got=$(calls_in $report ours.ll)
	[ "$want" -gt 0 ] && [ "$got" = "$want" ] || fail "$option: $got reports in the code, clang makes $want"
done

# What the linker has to lower: in one step, in two, from an archive, and not where it is taken back.
cat >pointers.c <<'E2'
#include "show.h"
static int one(int x) { show(wm_capture()); return x; }
static int two(int x) { return x + 1; }
int (*volatile table[2])(int) = {two, one};
int main(int argc, char **argv) { (void)argv; return table[argc & 1](argc) != 1; }
E2
cfi="-O2 -fsanitize=cfi -fvisibility=hidden"
check "cfi in one step" $cc $cfi pointers.c -o pointers
prints "cfi in one step" pointers "main;one"
check "cfi in two steps" sh -c "$cc $cfi -c pointers.c && $cc $cfi pointers.o -o pointers2"
prints "cfi in two steps" pointers2 "main;one"
check "cfi from an archive" sh -c "$cc $cfi -c bounds.c && ar rcs libbounds.a bounds.o && $cc $cfi pointers.o libbounds.a -o pointers3"
prints "cfi from an archive" pointers3 "main;one"
flags "sanitizer without a pass" "-ffat-lto-objects" "" -fsanitize=undefined -c plain.c
flags "sanitizer that is taken back" "-ffat-lto-objects" "" -fsanitize=address,cfi-icall -fno-sanitize=address,cfi -c plain.c
flags "sanitizers that are taken back" "-ffat-lto-objects" "" -fsanitize=thread -fno-sanitize=all -c plain.c
flags "no fat objects" "-flto=full" "-ffat-lto-objects" -fno-fat-lto-objects -c plain.c

# Line tables come when none were asked for, and the user's choice stays.
$cc -c part.c -o lines.o && readelf -S lines.o | grep -q debug_line || fail "no line table was added"
$cc -g -c part.c -o full.o && readelf -S full.o | grep -q debug_info || fail "-g was lost"

# Our own mistakes get one line.
one_line() { # NAME STATUS WORD COMMAND...
	name=$1 status=$2 word=$3
	shift 3
	"$@" >out 2>err
	[ $? = "$status" ] || fail "$name: exit status $?"
	[ "$(wc -l <err)" = 1 ] && grep -q -- "$word" err || { fail "$name:"; cat err; }
}
one_line "unknown --wm" 1 "--wm=paths2" $cc --wm=paths2 plain.c -o x
one_line "nothing in --wm" 1 "--wm=:" $cc --wm= plain.c -o x
one_line "none and more" 1 "--wm=none,paths" $cc --wm=none,paths plain.c -o x
one_line "unknown stage" 1 "--wm-stage=late" $cc --wm=paths --wm-stage=late plain.c -o x
one_line "unknown hash" 1 "--wm-path-hash=fast" $cc --wm=paths --wm-path-hash=fast plain.c -o x
for number in "" -1 many 12x 131073 99999999999999999999; do
	one_line "array of '$number'" 1 "--wm-path-array=$number:" $cc --wm=paths --wm-path-array=$number plain.c -o x
done
one_line "no such plan" 1 "no-plan.wmk" $cc --wm=paths --wm-plan=no-plan.wmk plain.c -o x
one_line "plan that is a directory" 1 "is no file" $cc --wm=paths --wm-plan=. plain.c -o x
one_line "unknown option" 1 "--wm-level=3" $cc --wm-level=3 plain.c -o x
one_line "option without =" 1 "--wm-plan:" $cc --wm=paths --wm-plan plan.wmk plain.c -o x
one_line "option of paths alone" 1 "needs --wm=paths" $cc --wm-stage=final plain.c -o x
for number in "" 0 3 8192 many; do
	one_line "ring of '$number'" 1 "--wm-trace-paths=$number:" $cc --wm=trace --wm-trace-paths=$number plain.c -o x
done
one_line "option of trace alone" 1 "needs --wm=trace" $cc --wm-trace-paths=8 plain.c -o x
one_line "unknown scheme" 1 "scheme" $cc --wm=trace='*=all' plain.c -o x
one_line "rule without scheme" 1 "--wm=trace" $cc --wm=trace='main' plain.c -o x
one_line "no such rules" 1 "no-rules" $cc --wm=trace=@no-rules plain.c -o x
check "rules in a file" sh -c "$cc --wm=trace=@rules -c plain.c && cd / && $cc --wm=trace=@$tmp/rules $tmp/plain.c -o $tmp/x && $tmp/x; [ \$? = 3 ]"
one_line "no such clang" 1 "no-such-clang" env WAYMARK_CC=no-such-clang $cc plain.c -o x
one_line "another LLVM" 1 "clang 19" env WAYMARK_CC=clang-14 $cc plain.c -o x
one_line "unreadable version script" 1 "nothing.map" $cc plain.c -Wl,--version-script=nothing.map -o x

[ $failed = 0 ] && echo "waymark cc: all as clang does" || echo "waymark cc: $failed failed"
[ $failed = 0 ]
