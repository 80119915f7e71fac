#!/bin/sh
# objects.sh BUILD-DIR - what the objects of `waymark cc` hold: machine code, bitcode, or both; that what LLVM can lower for a whole
# program only (-fsanitize=cfi, -fvirtual-function-elimination) compiles, links and has the contexts that the program itself
# counted; and that a sanitizer is applied once, beside clang -flto.
set -u
build=${WAYMARK_SANITIZED:-$(cd "$1" && pwd)}
cc="$build/waymark cc"
cxx="$build/waymark c++"
decode="$build/waymark decode --folded"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-objects.XXXXXX")
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
	what=$1
	shift
	"$@" >out 2>&1 || { fail "$what: $*"; sed 's/^/     /' out | head -20; }
}

# A program that keeps a stack of its own functions, by objects whose constructors and destructors the compiler places: what it says
# at each capture is the oracle for what the capture decodes to.
cat >virtual.cpp <<'E2'
#include <cstdio>
#include <string>
#include <vector>
#include <waymark.h>

static std::vector<const char *> stack;
struct here {
	explicit here(const char *name) { stack.push_back(name); }
	~here() { stack.pop_back(); }
};
static void show(wm_context context)
{
	char token[WM_TOKEN_MAX];
	std::string names;
	for (const char *name : stack)
		names += (names.empty() ? "" : ";") + std::string(name);
	wm_token(context, token, sizeof token);
	std::printf("%s\n", token);
	std::fprintf(stderr, "%s\n", names.c_str());
}
#define HERE(name) here mark(name); show(wm_capture())

struct shape {
	virtual int area(int) = 0;
	virtual int unused(int x) { HERE("shape::unused(int)"); return x; }
	virtual ~shape() = default;
};
struct square : shape {
	int area(int x) override { HERE("square::area(int)"); return x * x; }
	int unused(int x) override { HERE("square::unused(int)"); return x + 1; }
};
struct nested : shape {
	shape *inner;
	explicit nested(shape *of) : inner(of) {}
	int area(int x) override { HERE("nested::area(int)"); return inner->area(x) + inner->area(x + 1); }
};
struct other {
	virtual int twice(int x) { HERE("other::twice(int)"); return 2 * x; }
};
struct both : square, other {
	int area(int x) override { HERE("both::area(int)"); return other::twice(x) + square::area(x); }
	int twice(int x) override { HERE("both::twice(int)"); return area(x) + 1; }
};

__attribute__((noinline)) static int measure(shape &what, int x) { HERE("measure(shape&, int)"); return what.area(x); }
__attribute__((noinline)) static int pair(other &what, int x) { HERE("pair(other&, int)"); return what.twice(x); }

int main(int argc, char **)
{
	HERE("main");
	square a;
	nested b(&a), c(&b);
	both d;
	shape *shapes[] = {&a, &b, &c, &d};
	int sum = 0;
	for (int i = 0; i < 12; i++)
		sum += measure(*shapes[(i * argc) % 4], i);
	sum += pair(d, 3) + pair(static_cast<other &>(d), 4);
	return sum % 100;
}
E2
# contexts NAME PROGRAM: what its tokens decode to is what it counted itself
contexts() {
	./"$2" >tokens 2>want
	status=$?
	[ "$status" = "$want_status" ] || fail "$1: exit status $status, want $want_status"
	[ "$(wc -l <want)" -gt 50 ] || fail "$1: only $(wc -l <want) contexts"
	$decode --exe "$2" tokens | sed 's/;non-virtual thunk to [^;]*//g' >got
	cmp -s want got || { fail "$1: contexts differ"; diff want got | head -6; }
}
$cxx -O2 virtual.cpp -o plain || fail "plain: does not build"
./plain >tokens 2>/dev/null
want_status=$?
contexts plain plain

hidden='-O2 -fvisibility=hidden'
number=0
while read -r name options; do
	number=$((number + 1))
	# shellcheck disable=SC2086 # options are words
	check "$name in one step" $cxx $hidden $options virtual.cpp -o one$number
	contexts "$name in one step" one$number
	check "$name in two steps" sh -c "$cxx $hidden $options -c virtual.cpp -o two.o && $cxx $hidden $options two.o -o two$number"
	contexts "$name in two steps" two$number
done <<'E2'
cfi -fsanitize=cfi -flto
all-without-lto -fwhole-program-vtables -fvirtual-function-elimination -fsanitize=cfi -fno-sanitize-trap=cfi
virtual-function-elimination -flto -fwhole-program-vtables -fvirtual-function-elimination
E2

# kind OBJECT: what it holds
kind() {
	if [ "$(head -c 4 "$1" | od -An -tx1)" = " 42 43 c0 de" ]; then
		echo bitcode
	elif ! readelf -SW "$1" | grep -q '\.llvm\.lto'; then
		echo code
	elif readelf -sW "$1" | grep -q 'UND __no_machine_code'; then
		echo thin
	else
		echo fat
	fi
}
cat >part.c <<'E2'
int table[3] = {1, 2, 3};
int other(int);
static int local(int x) { return other(x) + table[1]; }
int (*pointer)(int) = local;
__attribute__((weak)) int weak(void) { return 1; }
_Thread_local int own = 4;
int part(int x);
int part(int x)
{
	static const void *labels[] = {&&one, &&two};
	goto *labels[x & 1];
one:
	return local(x);
two:
	return weak() + own + pointer(2);
}
E2
cat >main.c <<'E2'
int part(int), other(int);
int other(int x) { return x + 1; }
int main(void) { return part(4) + part(5); }
E2
# holds WANT OPTION...: the object has what WANT says
holds() {
	want=$1
	shift
	check "object of $*" $cc -c "$@" part.c -o part.o
	got=$(kind part.o)
	[ "$got" = "$want" ] || fail "$*: the object is $got, want $want"
}
holds fat -O2
holds fat -O2 -flto -ffat-lto-objects
holds bitcode -O2 -flto
holds bitcode -O2 -flto=full -fno-fat-lto-objects
holds bitcode -O2 -fno-fat-lto-objects
holds bitcode -O1 -fsanitize=dataflow
holds code -O2 --wm=paths --wm-thin-objects
holds code -O2 -fno-lto --wm-thin-objects
holds thin -O2 -fsanitize=address
holds thin -O2 -fsanitize-coverage=trace-pc-guard
holds thin -O2 -fmemory-profile
holds fat -O2 -fmemory-profile -fno-memory-profile
holds fat -O2 -fvirtual-function-elimination -fno-virtual-function-elimination
holds thin -O2 -fsanitize=address -flto -ffat-lto-objects
$cc -O2 --wm-thin-objects part.c main.c -o x '-###' 2>&1 | grep -q -- '-ffat-lto-objects' && fail "one step: machine code beside bitcode"

# A thin object has the symbols of a fat one, with what binds them, under either optimizer's pipeline; the tools of a plain system take it.
symbols() { readelf -sW "$1" | awk '$5 ~ /GLOBAL|WEAK/ && $7 != "UND" {print $4, $5, $6, $8}' | sort; }
for level in -O0 -O2; do
	holds thin $level -g --wm-thin-objects
	symbols part.o >got
	readelf -SW part.o | grep -q debug_info && fail "$level: a thin object has debug information of its own"
	holds fat $level -g
	symbols part.o >want
	[ -s want ] && cmp -s want got || { fail "$level: symbols differ"; diff want got; }
	holds thin $level -g --wm-thin-objects
	check "$level: compile the rest" $cc $level --wm-thin-objects -c main.c
	rm -f libpart.a
	check "$level: the system's tools" sh -c "strip -g part.o && ar rcs libpart.a part.o && ranlib libpart.a && nm -s libpart.a | grep -q 'part in part.o'"
	check "$level: link the archive" $cc main.o libpart.a -o thin
	./thin
	[ $? = 17 ] || fail "$level: wrong result of the program of thin objects"
done

# Who has nothing to link says what to do; -r makes machine code, and assembly stays thin.
$cc -fno-lto main.o part.o -o x >out 2>&1 && fail "a link without LTO takes thin objects"
grep -q 'undefined symbol: __no_machine_code_in_this_object_link_it_with_waymark_cc' out || { fail "a link without LTO says"; cat out; }
check "relocatable" sh -c "$cc -r main.o part.o -o whole.o 2>/dev/null && $cc whole.o -o whole"
./whole
[ $? = 17 ] || fail "relocatable: wrong result"
check "assembly" sh -c "$cc -O2 --wm-thin-objects -S part.c && $cc -c part.s && $cc main.o part.o -o assembled"
./assembled
[ $? = 17 ] || fail "assembly: wrong result"

# Calls that a sanitizer has put into the program, beside those in clang's own: as many; twice would be twice.
clang='clang-19 -flto -fuse-ld=lld -gline-tables-only'
for sanitizer in address undefined thread; do
	case $sanitizer in address) call=__asan_report ;; undefined) call=__ubsan_handle ;; *) call=__tsan_ ;; esac
	check "$sanitizer: clang" sh -c "$clang -O1 -fsanitize=$sanitizer main.c part.c -o clang-$sanitizer"
	check "$sanitizer: one step" $cc -O1 -fsanitize=$sanitizer main.c part.c -o one-$sanitizer
	check "$sanitizer: two steps" sh -c "$cc -O1 -fsanitize=$sanitizer -c main.c part.c && $cc -O1 -fsanitize=$sanitizer main.o part.o -o two-$sanitizer"
	for steps in one two; do
		for program in clang $steps; do
			objdump -d --no-show-raw-insn --disassemble=main $program-$sanitizer >text
			for function in part local other weak; do
				objdump -d --no-show-raw-insn --disassemble=$function $program-$sanitizer >>text
			done
			grep -c "call.*<$call" text >$program.calls
		done
		[ "$(cat clang.calls)" -gt 0 ] && cmp -s clang.calls $steps.calls ||
			fail "$sanitizer, $steps: $(cat $steps.calls) calls in the code, clang makes $(cat clang.calls)"
	done
done

[ "$failed" = 0 ] && echo "objects: all right"
[ "$failed" = 0 ]
