#!/bin/bash
# The machine blocks of programs that clang and lld built, against what llvm-readobj-19 reads: one object and several, with and
# without LTO, a section a function, discarded functions, functions in two parts, a stripped file and a debug file.
#
#   bbmap.sh DUMP_BBMAP
set -u
dump=$(realpath "$1")
command -v llvm-readobj-19 >/dev/null || {
	echo "no llvm-readobj-19"
	exit 77
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bbmap.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0

cat >one.cpp <<'EOF'
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
extern int other(int);
int __attribute__((noinline)) hot(int a)
{
	int s = 0;
	for (int i = 0; i < a; i++)
		s = i % 3 ? s + i : s ^ a;
	if (a > 1000) {
		puts("cold");
		abort();
	}
	return s;
}
int nobody_calls(int a)
{
	return a > 3 ? a * 7 : puts("x");
}
int choose(int a)
{
	switch (a) {
	case 0: return puts("a");
	case 1: return puts("b");
	case 2: return puts("c");
	case 3: return puts("d");
	case 9: return other(a);
	default: return 1;
	}
}
int throws(int a)
{
	try {
		if (other(a) > 100)
			throw std::runtime_error("x");
		return choose(a);
	} catch (std::exception &e) {
		return puts(e.what());
	}
}
int walk(int a)
{
	static void *to[] = {&&x, &&y, &&z};
	goto *to[a % 3];
x:
	puts("x");
	a++;
y:
	if (a < 10) {
		a += 2;
		goto *to[a % 3];
	}
z:
	return a;
}
int main(int argc, char **)
{
	return hot(argc) + choose(argc) + throws(argc) + walk(argc);
}
EOF
cat >two.cpp <<'EOF'
#include <cstdio>
template <class T> int __attribute__((noinline)) shared(T a)
{
	return a > 1 ? puts("shared") : 3;
}
static int __attribute__((noinline)) local(int a)
{
	while (a > 10)
		a /= 2;
	return a;
}
int other(int a)
{
	return shared(a) + local(a);
}
int discarded(int a)
{
	return a ? puts("gone") : local(a);
}
EOF

# What llvm-readobj prints, a line a block: function, block, bytes, landing pad, falls through, ends; where it leads.
readobj() {
	llvm-readobj-19 --bb-addr-map --pretty-pgo-analysis-map "$1" 2>/dev/null | awk '
	function flush_function(   i, k, line, n, ids)
	{
		for (i = 0; i < blocks && at != "0"; i++) {
			line = at " " address[i] " " size[i] " " pad[i] falls[i] ends[i]
			n = split(to[i], ids, " ")
			for (k = 1; k <= n; k++)
				line = line " " where[ids[k]]
			print line
		}
		blocks = 0
		delete where
		delete to
	}
	function hex(text) { sub(/^0x/, "", text); return tolower(text) }
	function number(text,   i, n)
	{
		for (i = 1; i <= length(text); i++)
			n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	function plus(a, b) { return sprintf("%x", number(a) + number(b)) }
	$1 == "Function" { flush_function() }
	$1 == "At:" { at = hex($2) }
	$1 == "Base" { base = hex($3) }
	$1 == "BB" && $2 == "Entries" { in_blocks = 1 }
	$1 == "PGO" && $2 == "BB" { in_blocks = 0; profile = -1 }
	$1 == "Successors" { profile++ }
	$1 == "ID:" && in_blocks { id = $2 }
	$1 == "ID:" && !in_blocks { to[profile] = to[profile] " " $2 }
	$1 == "Offset:" { address[blocks] = where[id] = plus(base, hex($2)) }
	$1 == "Size:" { size[blocks] = hex($2) }
	$1 == "HasReturn:" { ends[blocks] = $2 == "Yes" }
	$1 == "HasTailCall:" { ends[blocks] = ends[blocks] || $2 == "Yes" }
	$1 == "IsEHPad:" { pad[blocks] = $2 == "Yes" }
	$1 == "CanFallThrough:" { falls[blocks] = $2 == "Yes" }
	$1 == "HasIndirectBranch:" { blocks++ }
	END { flush_function() }'
}

# same NAME FILE MIN-BLOCKS
same() {
	local blocks
	readobj "$2" | sort >want
	"$dump" "$2" | sort >got
	blocks=$(wc -l <want)
	if ! cmp -s want got || [ "$blocks" -lt "$3" ]; then
		echo "FAIL $1: $blocks blocks"
		diff want got | head -n 10
		failed=1
	else
		echo "$1: $blocks blocks"
	fi
}

blocks=(-fbasic-block-address-map -mllvm '-pgo-analysis-map=br-prob')
link_blocks=('-Wl,--lto-basic-block-address-map' '-Wl,-mllvm,-pgo-analysis-map=br-prob')
cxx=(clang++-19 -fuse-ld=lld)
"${cxx[@]}" -O2 -flto one.cpp two.cpp -o lto "${link_blocks[@]}" && same "full LTO" lto 30
"${cxx[@]}" -O2 -flto one.cpp two.cpp -o ltosections -ffunction-sections -Wl,--gc-sections "${link_blocks[@]}" &&
	same "full LTO, a section a function" ltosections 30
"${cxx[@]}" -O2 "${blocks[@]}" one.cpp two.cpp -o plain && same "no LTO" plain 30
"${cxx[@]}" -O0 "${blocks[@]}" one.cpp two.cpp -o slow && same "-O0" slow 30
"${cxx[@]}" -O2 "${blocks[@]}" -ffunction-sections -Wl,--gc-sections one.cpp two.cpp -o collected &&
	same "discarded functions" collected 20
if readobj collected | cut -d' ' -f1 | sort -u | wc -l | grep -qx "$(readobj plain | cut -d' ' -f1 | sort -u | wc -l)"; then
	echo "FAIL nothing was discarded"
	failed=1
fi
"${cxx[@]}" -O2 "${blocks[@]}" -fsplit-machine-functions -fbasic-block-sections=all one.cpp two.cpp -o split &&
	same "functions in parts" split 30
"${cxx[@]}" -O2 -fPIC -shared "${blocks[@]}" two.cpp -o library.so && same "shared library" library.so 5
"${cxx[@]}" -O2 -fbasic-block-address-map one.cpp two.cpp -o nosuccessors && same "no probabilities" nosuccessors 30
cp lto stripped && strip stripped && same "stripped" stripped 30
objcopy --only-keep-debug lto lto.debug && same "debug file" lto.debug 30
exit "$failed"
