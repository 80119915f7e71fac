#!/bin/sh
# run.sh BUILD - waymark run: status, signals, standard streams, places, refusals.
. "$(dirname "$0")/lib.sh"
cc_program prog
unset WAYMARK_OUT

expect 7 "$waymark" run ./prog exit 7
has err.txt "recorded nothing"
expect 7 "$waymark" run -q ./prog exit 7
[ ! -s err.txt ] || fail "--quiet: $(cat err.txt)"
expect 0 "$waymark" run ./prog --version
lacks out.txt "waymark 0"
echo hello | "$waymark" run -q ./prog cat | grep -qx hello || fail "standard input"
for number in 15 9 6; do
	status=0
	sh -c '"$0" run -q ./prog kill "$1"; exit $?' "$waymark" $number >/dev/null 2>&1 || status=$?
	[ $status -eq $((128 + number)) ] || fail "signal $number: status $status"
done

# A signal sent to waymark reaches the program, and its death is ours.
mkfifo ready
"$waymark" run -q ./prog wait >ready 2>err.txt &
pid=$!
read -r line <ready
[ "$line" = ready ] || fail "wait: $line"
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status -eq 143 ] || fail "SIGTERM is not passed on: $status"

mkdir 'a dir'
expect 0 "$waymark" run -o 'a dir' ./prog
ls 'a dir'/waymark-prog-*.wmk >/dev/null || fail "-o DIR"
has err.txt "wrote a dir/waymark-prog-"
expect 0 "$waymark" run -o 'a dir/%e-x.wmk' ./prog
[ -e 'a dir/prog-x.wmk' ] || fail "-o PATTERN"
mkdir '100%p'
expect 0 "$waymark" run -o '100%p' ./prog
ls '100%p'/waymark-prog-*.wmk >/dev/null || fail "a directory with a percent sign"
WAYMARK_OUT="$tmp/a dir/env.wmk" expect 0 "$waymark" run ./prog
[ -e 'a dir/env.wmk' ] || fail "WAYMARK_OUT"

# -o FILE gets this run, whatever was there; the earlier recording becomes FILE.old. The value of its event names the run.
value_of() { "$waymark" report --format=events "$1" | cut -d ' ' -f 4; }
expect 0 "$waymark" run -o one.wmk ./prog event 11
expect 0 "$waymark" run -q -o one.wmk ./prog event 22
[ ! -s err.txt ] || fail "-q -o FILE says: $(cat err.txt)"
[ "$(value_of one.wmk)" = 22 ] || fail "-o FILE: not the second run's"
[ "$(value_of one.wmk.old)" = 11 ] || fail "-o FILE: the first run is not kept as .old"
expect 0 "$waymark" run -o "$tmp/one.wmk" ./prog event 33
has err.txt "$tmp/one.wmk of an earlier run is now $tmp/one.wmk.old"
has err.txt "wrote $tmp/one.wmk"
[ "$(value_of one.wmk)-$(value_of one.wmk.old)" = 33-22 ] || fail "-o FILE: not the third run's"
[ ! -e one.1.wmk ] || fail "-o FILE: one.1.wmk"
expect 0 "$waymark" run -o 'per%%cent.dat' ./prog event 1
expect 0 "$waymark" run -o 'per%%cent.dat' ./prog event 2
has err.txt "wrote per%cent.dat"
[ "$(value_of per%cent.dat)-$(value_of per%cent.dat.old)" = 2-1 ] || fail "-o FILE with a percent sign, without .wmk"
# Names of patterns and of WAYMARK_OUT are numbered, and that is said with -q too.
expect 0 "$waymark" run -q -o '%e.wmk' ./prog event 1
[ ! -s err.txt ] || fail "-q -o PATTERN says: $(cat err.txt)"
expect 0 "$waymark" run -q -o '%e.wmk' ./prog event 2
[ "$(cat err.txt)" = "waymark run: wrote prog.1.wmk: prog.wmk is of an earlier run" ] || fail "-q -o PATTERN: $(cat err.txt)"
[ "$(value_of prog.wmk)-$(value_of prog.1.wmk)" = 1-2 ] || fail "-o PATTERN: not both"
WAYMARK_OUT=one.wmk expect 0 "$waymark" run -q ./prog event 44
[ "$(cat err.txt)" = "waymark run: wrote one.1.wmk: one.wmk is of an earlier run" ] || fail "-q, WAYMARK_OUT: $(cat err.txt)"
# What is no recording stays.
echo precious >notes
refused 1 "notes: exists and is no recording; choose another name with -o" "$waymark" run -o notes ./prog event 1
[ "$(cat notes)" = precious ] || fail "-o NOTES: they are gone"
refused 127 "nosuch: no such program" "$waymark" run -o one.wmk nosuch
[ "$(value_of one.wmk)" = 33 ] || fail "a program that is not there moves the recording"

refused 127 "nosuch: no such program in PATH; give its path, as in ./nosuch" "$waymark" run nosuch
refused 1 "./nosuch: No such file or directory" "$waymark" run ./nosuch
refused 1 ".: is not a file that can be run" "$waymark" run ./.
echo text >text
refused 1 "text: cannot be run: Permission denied" "$waymark" run ./text
chmod +x text
refused 126 "text: cannot be run: Exec format error" "$waymark" run ./text
refused 1 "nodir/x.wmk: files cannot be written there: No such file or directory" "$waymark" run -o nodir/x.wmk ./prog
refused 1 "text/x.wmk: text is not a directory" "$waymark" run -o text/x.wmk ./prog
refused 1 "/proc/: files cannot be written there; choose another place with -o" "$waymark" run -o /proc/ ./prog
if [ -e "$build/src/runtime/libwaymark-heap.so" ]; then
	if clang-19 -static -x c - -o static 2>/dev/null <<'END'
int main(void) { return 0; }
END
	then
		refused 1 "static: is linked statically: --heap works on dynamically linked programs" \
			"$waymark" run --heap ./static
	fi
	refused 1 "text: this is no ELF file" "$waymark" run --heap ./text
	expect 3 "$waymark" run --heap ./prog exit 3
	printf '#!/bin/sh\nexec ./prog exit 4\n' >script
	chmod +x script
	expect 4 "$waymark" run -q --heap ./script
fi
finish
