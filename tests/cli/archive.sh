#!/bin/sh
# archive.sh BUILD - archives: their reports are those of the recordings, also where the program has gone; several files, filters by thread,
# the text of lines, what --anonymize leaves, and what is refused.
. "$(dirname "$0")/lib.sh"
mkdir source && cp "$here/convert.c" source
"$waymark" cc -O1 -g -o prog source/convert.c -pthread || exit 1
expect 0 "$waymark" run --heap -o one.wmk ./prog
expect 0 "$waymark" run --heap -o two.wmk ./prog

# say FILE...: all that reports of them say
say() {
	for format in text json folded events; do
		"$waymark" report --format=$format --top all "$@" || return
	done
	"$waymark" report --by=line --sort=name "$@" && "$waymark" report --by=module "$@" && "$waymark" report --tree --min=0 "$@" &&
		"$waymark" report --threads --format=folded --metric=step "$@" &&
		"$waymark" report --metric=step --thread "$thread" --format=folded "$@"
}
thread=$("$waymark" report --format=events one.wmk | awk 'NR == 2 { print $2 }')
# An archive has no times of the heap.
untimed() { sed -i "s/ (at about [0-9.,]* [a-z]*)//" "$1"; }
say one.wmk >want.txt 2>&1 || fail "reports of a recording"
say one.wmk two.wmk >want2.txt 2>&1 || fail "reports of two"
untimed want.txt
untimed want2.txt
"$waymark" report --metric=step --format=folded one.wmk two.wmk >want.step || fail "steps of two"
expect 0 "$waymark" archive -o one.wmka one.wmk
expect 0 "$waymark" archive -o both.wmka one.wmk two.wmk
# All lines of the program with numbers, and some around each.
annotate() { # FILE
	for format in text html json; do
		"$waymark" annotate --metric=step --format=$format '*' "$1" && "$waymark" annotate --metric=bytes --format=$format deep "$1" || return
	done
}
annotate one.wmk >want.lines 2>&1 || fail "annotate a recording: $(tail -n 2 want.lines)"
has want.lines 'wm_event("step", (uint64_t)n);'
lacks want.lines "lines may not fit"
expect 0 "$waymark" archive --no-sources -o textless.wmka one.wmk
mkdir away && mv prog one.wmk two.wmk source away
annotate one.wmka >got.lines 2>&1 || fail "annotate an archive: $(tail -n 2 got.lines)"
cmp want.lines got.lines || fail "annotate an archive: $(diff want.lines got.lines | head -n 20)"
expect 0 "$waymark" annotate --metric=step deep textless.wmka
lacks out.txt wm_event
has out.txt "convert.c: its text is not shown: "
# A folder that is given comes first; what was changed since is said.
mkdir newer
sed 's/wm_event("step"/wm_event("other"/' away/source/convert.c >newer/convert.c
touch -d '2099-01-01' newer/convert.c
expect 0 "$waymark" annotate --metric=step --source-dir=newer deep one.wmka
has out.txt 'wm_event("other", (uint64_t)n);'
has err.txt "newer/convert.c was changed after the recording: lines may not fit"
say one.wmka >got.txt 2>&1
cmp want.txt got.txt || fail "an archive says: $(diff want.txt got.txt | head -n 20)"
say both.wmka >got.txt 2>&1
cmp want2.txt got.txt || fail "an archive of two says: $(diff want2.txt got.txt | head -n 20)"
"$waymark" report away/one.wmk >now.txt 2>&1
grep -q "deep at" now.txt && fail "the recording still finds its program: nothing was tested"
expect 0 "$waymark" archive -o again.wmka both.wmka
say again.wmka >got.txt 2>&1
cmp want2.txt got.txt || fail "an archive of an archive differs"
expect 0 "$waymark" annotate --metric=step deep again.wmka
has out.txt 'wm_event("step", (uint64_t)n);'
[ "$(wc -c <both.wmka)" -lt 20000 ] || fail "an archive of $(wc -c <both.wmka) bytes"
mv away/prog .

# Sums without events.
expect 0 "$waymark" archive --no-events -o sums.wmka away/one.wmk away/two.wmk
expect 0 "$waymark" report --metric=step --format=folded sums.wmka
cmp out.txt want.step || fail "sums without events differ"
expect 0 "$waymark" report --format=events sums.wmka
[ ! -s out.txt ] || fail "--no-events keeps some: $(head -n 3 out.txt)"

# An archive as the measure of a gate (docs/ci.md).
expect 0 "$waymark" diff --metric=allocations --fail-above=2% sums.wmka both.wmka
expect 3 "$waymark" diff --metric=allocations --fail-above=2% one.wmka both.wmka
expect 3 "$waymark" diff --metric=leaked --fail-above=0% one.wmka both.wmka

# Nothing says where it was.
expect 0 "$waymark" archive --anonymize -o anonymous.wmka "$tmp/away/one.wmk"
expect 0 "$waymark" report --format=json --top all anonymous.wmka
lacks out.txt "$tmp"
lacks out.txt "$(dirname "$here")"
has out.txt '"deep"'
lacks out.txt "step:sum"
"$waymark" report --format=folded --metric=bytes away/one.wmk >want.txt
expect 0 "$waymark" report --format=folded --metric=bytes anonymous.wmka
cmp out.txt want.txt || fail "numbers of an anonymous archive"
expect 0 "$waymark" annotate --metric=step deep anonymous.wmka
lacks out.txt 'wm_event'

# Two of one process, damage.
refused 1 "its process is in another of the files" "$waymark" archive -o x.wmka away/one.wmk one.wmka
[ ! -e x.wmka ] || fail "an archive after an error"
refused 2 "-o FILE is needed" "$waymark" archive away/one.wmk
refused 1 "--time is for recordings" "$waymark" report --time=0..1 one.wmka
head -c 300 one.wmka >cut.wmka
refused 1 "cut.wmka: offset 0x18: it cannot be unpacked: the archive is damaged or cut" "$waymark" report cut.wmka
exit $((failures > 0))
