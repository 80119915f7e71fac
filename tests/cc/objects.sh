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

[ "$failed" = 0 ] && echo "objects: all right"
[ "$failed" = 0 ]
