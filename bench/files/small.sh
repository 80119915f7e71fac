#!/bin/sh
# small.sh [-n COMMANDS] [BUILD] - what a shell script leaves under `waymark run --heap`: its commands (500), each a process, the files and their
# bytes on disk, and how long one report of all of them takes, before and after `waymark merge`.
set -eu
count=500
if [ "${1:-}" = -n ]; then
	count=$2
	shift 2
fi
waymark=$(realpath "${1:-build}")/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-small.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir"
mkdir script
# seconds COMMAND...: processor time that it took; its output in out.txt.
seconds() {
	command time -f '%U %S' -o time.txt "$@" >out.txt 2>err.txt
	awk '{ print $1 + $2 }' time.txt
}
# shellcheck disable=SC2016
echo "run: $(seconds "$waymark" run -q --heap -o script bash -c 'for i in $(seq $0); do basename a; done' "$count") s"
echo "files: $(find script -type f | wc -l), on disk $(du -sk script | cut -f1) KB, apparent $(du -sk --apparent-size script | cut -f1) KB"
echo "report: $(seconds "$waymark" report script) s, $(wc -l <out.txt) lines, of these $(grep -c '^script/' out.txt) of files"
grep '  *[0-9,]*  \(bytes\|allocations\)' out.txt
echo "merge: $(seconds "$waymark" merge -o merged.wmk script/*.wmk) s, $(($(stat -c %s merged.wmk) / 1024)) KB"
echo "report of the merged file: $(seconds "$waymark" report merged.wmk) s"
grep '  *[0-9,]*  \(bytes\|allocations\)' out.txt
