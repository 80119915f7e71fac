#!/bin/sh
# decode.sh BUILD - decode as a filter, and every way in which metadata is found or is not.
. "$(dirname "$0")/lib.sh"
cc_program prog

mkdir out
WAYMARK_OUT=out ./prog >log.txt || fail "prog fails"
wmk=$(echo out/*.wmk)
cat >want.txt <<'END'
work main;work;print_token, done
compare [main;work;sort;[qsort];compare;print_token] in qsort
END

# Where the .wmk is found.
expect 0 "$waymark" decode --folded --wmk "$wmk" log.txt
cmp out.txt want.txt || fail "--wmk FILE"
expect 0 "$waymark" decode --folded --wmk out log.txt
cmp out.txt want.txt || fail "--wmk DIR"
expect 0 env WAYMARK_OUT=out "$waymark" decode --folded log.txt
cmp out.txt want.txt || fail "WAYMARK_OUT is a directory"
expect 0 env WAYMARK_OUT=out/%e.wmk "$waymark" decode --folded log.txt
cmp out.txt want.txt || fail "WAYMARK_OUT is a pattern"
cp log.txt out/log.txt
expect 0 "$waymark" decode --folded out/log.txt
cmp out.txt want.txt || fail "beside the input"
(cd out && "$waymark" decode --folded <log.txt >../out.txt)
cmp out.txt want.txt || fail "in the current directory"
expect 0 "$waymark" decode --folded log.txt
has out.txt "[wm1: no .wmk of run "
head -n 1 out.txt | grep -q "work wm1:.*done" || fail "an unknown token does not stay"

# Not folded: the stack follows its line.
expect 0 "$waymark" decode --wmk out log.txt
sed -e 's/ at [^ ,}]*program\.c:[0-9:]*/ at P/' out.txt >shape.txt
cat >want-shape.txt <<'END'
work {print_token at P}, done
    #0  print_token at P (inlined)
    #1  work at P
    #2  main at P
compare [{print_token at P}] in qsort
    #0  print_token at P (inlined)
    #1  compare at P
    #2  [qsort]
    #3  sort at P
    #4  work at P
    #5  main at P
END
cmp shape.txt want-shape.txt || fail "readable form: $(cat shape.txt)"
lacks out.txt "$(printf '\033')"

# Bytes pass unchanged: NULs, no newline at the end, long lines, tokens across any block boundary.
token=$(sed -n 's/^work \(wm1:[^,]*\),.*/\1/p' log.txt)
printf 'a\000b\377 %s' "$token" >bytes.txt
expect 0 "$waymark" decode --folded --wmk out bytes.txt
printf 'a\000b\377 main;work;print_token' >want-bytes.txt
cmp out.txt want-bytes.txt || fail "bytes"
for fill in 65480 65500 65530 65535 65536; do
	head -c $fill /dev/zero | tr '\000' x >long.txt
	printf ' %s %s' "$token" "$token" >>long.txt
	expect 0 "$waymark" decode --folded --wmk out long.txt
	head -c $fill /dev/zero | tr '\000' x >want-long.txt
	printf ' main;work;print_token main;work;print_token' >>want-long.txt
	cmp out.txt want-long.txt || fail "a token after $fill bytes"
done
printf '%s' "$token" | "$waymark" decode --folded --wmk out - | grep -qx 'main;work;print_token' || fail "standard input as -"
expect 0 "$waymark" decode --once --wmk out log.txt log.txt
[ "$(grep -c '#0  ' out.txt)" -eq 2 ] || fail "--once"
printf '%s %s\n' "$token" "$token" >twice.txt
expect 0 "$waymark" decode --wmk out twice.txt
[ "$(grep -c '#0  ' out.txt)" -eq 1 ] || fail "the same token twice in a line has two stacks"

# Tokens that cannot be decoded stay, with a reason; the rest goes on and the exit status is 0.
{
	echo "${token%?}g"
	echo "${token%????}"
	echo "wm1:not-instrumented"
	echo "wm1: no token"
	echo "$token"
} >bad.txt
expect 0 "$waymark" decode --folded --wmk out bad.txt
has out.txt "[wm1: damaged: it is cut]"
has out.txt "wm1:not-instrumented [wm1: captured in code without contexts: build it with waymark cc --wm=contexts]"
grep -qx "wm1: no token" out.txt || fail "what is no token is changed"
grep -qx "main;work;print_token" out.txt || fail "after bad tokens a good one is not decoded"

# A logger's colours: the letter that ends one is no part of a word. Over a block's boundary, too.
for fill in 0 65530 65536; do
	{
		head -c $fill /dev/zero | tr '\000' x
		printf '\033[31m%s\033[0m full\n' "$token"
	} >coloured.txt
	expect 0 "$waymark" decode --folded --wmk out coloured.txt
	tail -c 40 out.txt | grep -q "$(printf '\033\\[31mmain;work;print_token\033\\[0m full')" || fail "coloured behind $fill bytes"
done

# Programs that keep no contexts say so alike; <waymark.h> is there for all.
for kind in paths trace none; do
	cc_program "without-$kind" --wm=$kind
	WAYMARK_OUT=without.wmk "./without-$kind" >without.txt || fail "--wm=$kind: fails"
	expect 0 "$waymark" decode --folded without.txt
	[ "$(grep -c 'wm1:not-instrumented \[wm1: captured in code without contexts' out.txt)" = 2 ] || fail "--wm=$kind: $(cat out.txt)"
done

# A context without pushes needs no .wmk, only a program with its build id.
mkdir alone
cp prog alone/moved
(cd alone && "$waymark" decode --folded ../log.txt >../out.txt --exe moved)
has out.txt "work main;work;print_token, done"
mv out out-hidden
mv prog prog-hidden
expect 0 "$waymark" decode --folded --wmk out-hidden log.txt
has out.txt "prog: No such file or directory"
expect 0 "$waymark" decode --folded --wmk out-hidden --exe alone log.txt
cmp out.txt want.txt || fail "--exe DIR"

# Stripped: the section moves out, the debug file is found by --debug-dir, by debuglink, by --exe.
objcopy --only-keep-debug prog-hidden prog.debug
objcopy --strip-debug prog-hidden prog
expect 0 "$waymark" decode --folded --wmk out-hidden log.txt
has out.txt "prog: has no .debug_waymark (stripped, or not built with waymark cc)"
expect 0 "$waymark" decode --folded --wmk out-hidden --exe prog.debug log.txt
cmp out.txt want.txt || fail "--exe with a debug file"
id=$("$waymark" graph prog-hidden | sed -n 's/.*build id \([0-9a-f]*\).*/\1/p')
rest=${id#??}
mkdir -p "dbg/.build-id/${id%"$rest"}"
cp prog.debug "dbg/.build-id/${id%"$rest"}/$rest.debug"
expect 0 "$waymark" decode --folded --wmk out-hidden --debug-dir dbg log.txt
cmp out.txt want.txt || fail "--debug-dir"
WAYMARK_DEBUG_DIR=dbg expect 0 "$waymark" decode --folded --wmk out-hidden log.txt
cmp out.txt want.txt || fail "WAYMARK_DEBUG_DIR"
objcopy --add-gnu-debuglink=prog.debug prog
expect 0 "$waymark" decode --folded --wmk out-hidden log.txt
cmp out.txt want.txt || fail ".gnu_debuglink beside the program"
mkdir .debug
mv prog.debug .debug
expect 0 "$waymark" decode --folded --wmk out-hidden log.txt
cmp out.txt want.txt || fail ".gnu_debuglink in .debug"
objcopy --compress-debug-sections=zlib prog-hidden compressed
expect 0 "$waymark" decode --folded --wmk out-hidden --exe compressed log.txt
cmp out.txt want.txt || fail "a compressed section"
rm -r .debug

# Another build under the same name is refused, with both build ids.
cc_program other -DOTHER=1 -O2
cp other prog
other_id=$("$waymark" graph other | sed -n 's/.*build id \([0-9a-f]*\).*/\1/p')
expect 0 "$waymark" decode --folded --wmk out-hidden log.txt
has out.txt "prog: is of another build: its build id is $other_id, $id is wanted"
grep -q "main;" out.txt && fail "another build is used"

# A library that is called before its first constructor has no number yet: no number of another's stands for it.
cat >calls.c <<'END'
extern void hook(void);
__attribute__((noinline)) static void reach(int n)
{
	if (n)
		reach(n - 1);
	else
		hook();
	__asm__ volatile("");
}
__attribute__((constructor)) static void start(void)
{
	reach(0);
}
END
cat >hook.c <<'END'
#include <stdio.h>
#include <waymark.h>
void hook(void)
{
	char token[WM_TOKEN_MAX];
	wm_token(wm_capture(), token, sizeof token);
	puts(token);
}
END
echo 'extern void hook(void); int main(void) { hook(); return 0; }' >early.c
"$compiler" cc -O1 -fPIC -shared calls.c -o libcalls.so && "$compiler" cc -O1 -fPIC -shared hook.c -L. -lcalls -Wl,--no-as-needed,-rpath,"$PWD" -o libhook.so &&
	gcc early.c -L. -lhook -lcalls -Wl,-rpath,"$PWD" -o early || fail "early does not build"
mkdir out-early
WAYMARK_OUT=out-early ./early >early.txt || fail "early fails"
expect 0 "$waymark" decode --folded --wmk out-early early.txt
sed 's/^wm1:[^ ]* //' out.txt >shape.txt
printf '%s\n' '[wm1: in a library that had not begun, or had no number]' hook | cmp - shape.txt || fail "called before it has begun: $(cat out.txt)"

# A sink that goes away, a full one.
cat log.txt log.txt | "$waymark" decode --folded --wmk out-hidden --exe prog-hidden 2>err.txt | head -c 1 >/dev/null
[ ! -s err.txt ] || fail "a closed pipe: $(cat err.txt)"
expect 1 sh -c '"$0" decode --folded --wmk out-hidden log.txt >/dev/full' "$waymark"
has err.txt "No space left on device"
finish
