#!/bin/sh
# badinput.sh BUILD - damaged and unsuitable files: one line that says what, where and what to do; a non-zero exit; no
# output that looks whole.
. "$(dirname "$0")/lib.sh"
cc_program prog
./prog >log.txt
mv waymark-prog-*.wmk good.wmk

# .wmk files.
refused 1 "nosuch.wmk: No such file or directory" "$waymark" report nosuch.wmk
expect 0 "$waymark" report . # all of its recordings: one
: >empty.wmk
refused 1 "empty.wmk: offset 0x0: the file is empty" "$waymark" report empty.wmk
refused 1 "prog: offset 0x0: this is no .wmk file" "$waymark" report prog
head -c 1000 good.wmk >short.wmk
refused 1 "short.wmk: offset 0x0: truncated: 1000 bytes" "$waymark" report short.wmk
refused 1 "short.wmk" "$waymark" report -o out.txt.result good.wmk short.wmk
[ ! -e out.txt.result ] || fail "an output file after an error"
refused 1 "prog: offset 0x0: this is no .wmk file" "$waymark" decode --wmk prog log.txt
refused 1 "nosuch.wmk: No such file or directory" "$waymark" decode --wmk nosuch.wmk log.txt
size=$(wc -c <good.wmk)
head -c $((size / 2)) good.wmk >cut.wmk
expect 0 "$waymark" report cut.wmk
has out.txt "cut.wmk: truncated: "
patch_byte() { # FILE OFFSET OCTAL
	printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>dd.txt
}
cp good.wmk damaged.wmk
patch_byte damaged.wmk 4096 170
refused 1 "damaged.wmk: offset 0x1000: no chunk starts here: the file is damaged" "$waymark" report damaged.wmk
cp good.wmk newer.wmk
patch_byte newer.wmk 8 11
refused 1 "newer.wmk: offset 0xc: version 9, this waymark reads" "$waymark" report newer.wmk

# Programs.
refused 1 "nosuch: No such file or directory" "$waymark" graph nosuch
refused 1 "log.txt: this is no ELF file" "$waymark" graph log.txt
refused 1 "/bin/true: has no .debug_waymark (stripped, or not built with waymark cc)" "$waymark" graph /bin/true
refused 1 "is not a regular file" "$waymark" graph /dev/null
head -c 5000 prog >cut-prog
refused 1 "cut-prog: " "$waymark" graph cut-prog
"$waymark" cc -c "$here/program.c" -o program.o
refused 1 "program.o: is an object file that is not linked yet" "$waymark" graph program.o

# Its section: cut, changed, doubled, of another version.
objcopy --dump-section .debug_waymark=section prog
with_section() { # NAME FROM: prog with another section
	objcopy --update-section .debug_waymark="$2" prog "$1"
}
head -c 100 section >cut-section
with_section cut-in-section cut-section
refused 1 "cut-in-section: .debug_waymark: offset 0x" "$waymark" graph cut-in-section
has err.txt "truncated"
cp section changed-section
patch_byte changed-section 70 377
with_section changed changed-section
refused 1 "changed: .debug_waymark: offset 0x" "$waymark" graph changed
cat section section >double-section
with_section doubled double-section
refused 1 "a second section follows: files that were linked twice" "$waymark" graph doubled
cp section newer-section
patch_byte newer-section 8 3
with_section newer newer-section
refused 1 "version 3, this waymark reads version 2: use the waymark that built it" "$waymark" graph newer

# A report whose program is damaged or gone still has all numbers, under [unknown], with the reason.
mv prog prog-hidden
expect 0 "$waymark" report good.wmk
has out.txt "[unknown]"
has out.txt "prog: No such file or directory"
cp changed prog
expect 0 "$waymark" report good.wmk
has out.txt "prog: .debug_waymark: offset 0x"
expect 0 "$waymark" report --exe prog-hidden good.wmk
lacks out.txt "[unknown]"
refused 1 "nodir: No such file or directory" "$waymark" report --debug-dir nodir good.wmk

# No debug information at all: names from the symbol table, no lines.
"$waymark" cc -O1 -g0 "$here/program.c" -o bare
rm -f waymark-*.wmk
./bare >bare.txt
expect 0 "$waymark" decode --folded bare.txt
has out.txt "main;work"
finish
