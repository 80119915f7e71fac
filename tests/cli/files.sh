#!/bin/sh
# files.sh BUILD - files that Waymark makes: nothing of anybody else's is replaced or followed, runs at once keep each their recording, those of
# others are not named, and a recording that cannot be made is told in words that are true.
. "$(dirname "$0")/lib.sh"
cc_program prog
value_of() { "$waymark" report --format=events "$1" | cut -d ' ' -f 4; }
other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
has_other=yes
{ [ "$(id -u)" -eq 0 ] && other true 2>/dev/null; } || has_other=

# ---- reports ----
expect 0 "$waymark" run --events -q -o r.wmk ./prog event 1
"$waymark" report --format=json r.wmk >want.json
report() { expect "$1" "$waymark" report --format=json -o "$2" r.wmk; }
# same FILE: it is the report, and nothing lies beside it
same() {
	cmp -s "$1" want.json || fail "$1: is not the report"
	[ -z "$(find . -name '.waymark-*')" ] || fail "$1: something is left: $(find . -name '.waymark-*')"
}
mkdir out
echo old >out/file
report 0 out/file
same out/file
# A link of this user is followed: what it leads to is replaced, and it stays.
ln -s file out/link
echo old >out/file
report 0 out/link
[ -L out/link ] || fail "-o LINK: the link is gone"
same out/file
# Not what has no name to replace: devices, pipes, and the standard output that a name leads to.
ln -s /proc/self/fd/1 standard # as /dev/stdout, which a fault here would take from the machine
"$waymark" report --format=json -o standard r.wmk >stdout.json
[ -L standard ] || fail "-o of a link to standard output: it is gone"
same stdout.json
mkfifo pipe
cat pipe >piped.json &
report 0 pipe
wait $!
[ -p pipe ] || fail "-o FIFO: it is gone"
same piped.json
# A name as long as names can be.
long=out/$(printf '%0255d' 0)
report 0 "$long"
same "$long"
if [ "$has_other" ]; then
	chmod 711 .
	mkdir -m 777 shared
	echo theirs >shared/file
	echo precious >victim
	chown 65534 shared/file
	other ln -s ../victim shared/link
	refused 1 "shared/file: belongs to another user and is not replaced; choose another name" \
		"$waymark" report -o shared/file r.wmk
	refused 1 "shared/link: is a link of another user and is not followed; choose another name" \
		"$waymark" report -o shared/link r.wmk
	[ "$(cat shared/file victim | tr '\n' ' ')" = "theirs precious " ] || fail "files of others: $(cat shared/file victim)"
fi

# ---- what -o sets aside ----
: >data
echo precious >data.old
refused 1 "data.old: exists and is no recording; choose another name with -o" "$waymark" run --events -o data ./prog event 1
[ "$(cat data.old)" = precious ] || fail "-o of an empty file: data.old is gone"
[ -f data ] || fail "-o of an empty file: it is gone"
rm data.old
expect 0 "$waymark" run --events -q -o data ./prog event 2
[ "$(value_of data)" = 2 ] || fail "-o of an empty file: not this run's"
ln -s r.wmk recorded
refused 1 "recorded: exists and is no recording" "$waymark" run --events -o recorded ./prog event 1
if [ "$has_other" ]; then
	cp r.wmk shared/theirs.wmk
	chown 65534 shared/theirs.wmk
	refused 1 "shared/theirs.wmk: belongs to another user" "$waymark" run --events -o shared/theirs.wmk ./prog event 1
	cp r.wmk shared/ours.wmk
	cp r.wmk shared/ours.wmk.old
	chown 65534 shared/ours.wmk.old
	refused 1 "shared/ours.wmk.old: belongs to another user" "$waymark" run --events -o shared/ours.wmk ./prog event 1
fi

# ---- runs at once with one name ----
# One after another they make an event and then wait for standard input to end, all of them before any ends.
cat >hold.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <waymark.h>
int main(int argc, char **argv)
{
	wm_event("number", (unsigned int)atoi(argv[argc - 1]));
	puts("made");
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
END
"$waymark" cc -O1 hold.c -o hold || exit 1
expect 0 "$waymark" run --events -q -o once.wmk ./prog event 100
mkfifo held
for i in 1 2 3 4; do
	mkfifo made$i
	"$waymark" run --events -o once.wmk ./hold $i <held >made$i 2>said$i 7>&- &
	[ $i -gt 1 ] || exec 7>held
	read -r line <made$i
	[ "$line" = made ] || fail "run $i of four: $line"
done
exec 7>&-
wait
values=
for i in 1 2 3 4; do
	name=$(sed -n 's/^waymark run: wrote \([^:]*\).*/\1/p' said$i)
	[ -f "$name" ] || fail "run $i of four wrote $name, which is not there: $(cat said$i)"
	[ "$(value_of "$name")" = $i ] || fail "run $i of four: $name is another's"
	values="$values $name"
done
[ "$values" = " once.wmk once.1.wmk once.2.wmk once.3.wmk" ] || fail "four runs at once: $values"
[ "$(value_of once.wmk.old)" = 100 ] || fail "four runs at once: the one from before is not at once.wmk.old"
grep -qx "waymark run: wrote once.1.wmk: once.wmk is of an\(other\| earlier\) run" said2 || fail "run 2 of four: $(cat said2)"
# One that is in use stays, and so does what was set aside for it while that is in use: here its run has not ended.
mkfifo first
"$waymark" run --events -o used.wmk ./hold 1 <first >/dev/null 2>&1 &
exec 7>first
until [ "$(value_of used.wmk 2>/dev/null)" = 1 ]; do sleep 0.05; done
expect 0 "$waymark" run --events -q -o used.wmk ./prog event 2
exec 7>&-
wait
[ "$(value_of used.wmk)-$(value_of used.1.wmk)" = 1-2 ] || fail "a recording in use was renamed"
[ ! -e used.wmk.old ] || fail "a recording in use was set aside"

# ---- recordings of others ----
# What another run makes in the same directory meanwhile is not named, however young it is; its children's files are.
mkdir common
cat >beside.sh <<END
WAYMARK_OUT=$tmp/common/%e-%p.wmk "$waymark" run --events -q ./prog event 5
./prog event 6
END
expect 0 "$waymark" run --no-agent -o common/ sh beside.sh
[ "$(find common -name '*.wmk' | wc -l)" -eq 2 ] || fail "common: $(ls common)"
[ "$(grep -c wrote err.txt)" -eq 1 ] || fail "common: $(cat err.txt)"
has err.txt "wrote common/waymark-prog-"

# ---- nothing recorded, and why ----
expect 0 "$waymark" run --events --limit 10 ./prog event 1
has err.txt "prog recorded nothing: its size limit is too low (--limit, WAYMARK_LIMIT)"
WAYMARK_LIMIT=10 expect 0 "$waymark" run --events ./prog event 1
has err.txt "prog recorded nothing: its size limit is too low"
expect 0 "$waymark" run --events -o small.wmk --limit 12288 ./prog event 1
has err.txt "small.wmk is not complete: its size limit was reached (WAYMARK_LIMIT)"
# Its messages go into a pipe: they count as well.
(ulimit -f 0 && "$waymark" run --events ./prog event 1 2>&1) | cat >err.txt
has err.txt "prog recorded nothing: no file could be made in .: the limit on the size of files was reached (ulimit -f)"
mkdir gone
cat >remove.sh <<'END'
rm -r gone
./prog event 1
END
expect 0 "$waymark" run --no-agent -o gone/ sh remove.sh
has err.txt "recorded nothing: gone/ went away"
mkdir gone
cat >remove.sh <<'END'
./prog event 1
rm -r gone
END
expect 0 "$waymark" run --no-agent -o gone/ sh remove.sh
has err.txt "recorded nothing: its recording is not in gone/ any more: it was moved or removed meanwhile"
mkdir full
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=4k none full 2>/dev/null; then
	head -c 4096 /dev/zero >full/all
	expect 0 "$waymark" run --events -o full/ ./prog event 1
	umount full
	has err.txt "prog recorded nothing: no file could be made in full/: No space left on device"
fi
expect 0 "$waymark" run --events ./prog exit 0
has err.txt "prog recorded nothing: it made no event and took no token"
lacks err.txt "waymark cc"
cc=$(command -v gcc || command -v clang-19)
echo 'int main(void) { return 0; }' >plain.c
if "$cc" plain.c -o plain; then
	expect 0 "$waymark" run --no-agent ./plain
	has err.txt "plain recorded nothing: it made no event and took no token, or was not built with waymark cc"
fi
# The loader's name in a program's header says which C library it is for.
printf 'int main(void) { return 0; }' | "$cc" -x c - -o musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 &&
	refused 1 "musl: is linked with musl: the agent works on programs of glibc; --no-agent runs it without" "$waymark" run --events ./musl

# ---- what the environment says ----
for value in 1Q x -1 1KK; do
	WAYMARK_LIMIT=$value refused 1 "WAYMARK_LIMIT=$value: a number of bytes is needed, with K, M or G behind it if wanted" \
		"$waymark" run --events ./prog event 1
	WAYMARK_LIMIT=$value WAYMARK_OUT=$tmp/limit.wmk expect 0 ./prog event 3
	has err.txt "waymark: WAYMARK_LIMIT=$value: a number of bytes is needed, with K, M or G behind it if wanted; the limit is 4G"
done
for value in wal sample sample=x check,,walls; do
	WAYMARK_AGENT=$value refused 1 "WAYMARK_AGENT=$value: unknown option ${value##*,}; known are sample=HZ, check" \
		"$waymark" run --events ./prog event 1
	WAYMARK_AGENT=$value refused 1 "WAYMARK_AGENT=$value: unknown option ${value##*,}" "$waymark" attach $$
done
WAYMARK_AGENT=sample=3,,wall,check WAYMARK_LIMIT=1m expect 0 "$waymark" run --events -q -o good.wmk ./prog event 1
finish
