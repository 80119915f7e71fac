#!/bin/sh
# links.sh TREE - each relative link of a Markdown file leads to a file of the tree.
set -eu
cd "$1"
status=0
for page in *.md docs/*.md examples/*/*.md bench/*.md; do
	[ -f "$page" ] || continue
	for target in $(grep -o '](\([^)#]*\)' "$page" | sed 's/^](//'); do
		case $target in
		http://* | https://* | mailto:*) continue ;;
		esac
		[ -e "$(dirname "$page")/$target" ] || {
			echo "$page: no such file: $target"
			status=1
		}
	done
done
exit $status
