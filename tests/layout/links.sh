#!/bin/bash
# links.sh TREE - what pages name is there: each relative link of a Markdown file leads to a file of the tree, and of a page that is
# installed to one that is installed too; each path of a file or folder that README.md, CONTRIBUTING.md or a page of docs/ names exists.
#
# A path begins with a folder of the tree and stands alone as a word. {a,b} and * are expanded; <name> is a place for any name.
set -eu
cd "$1"
status=0

wrong() {
	echo "$*"
	status=1
}

for page in *.md docs/*.md examples/*/*.md bench/*.md; do
	[ -f "$page" ] || continue
	for target in $(grep -o '](\([^)#]*\)' "$page" | sed 's/^](//'); do
		case $target in
		http://* | https://* | mailto:*) continue ;;
		esac
		[ -e "$(dirname "$page")/$target" ] || { wrong "$page: no such file: $target"; continue; }
		case $page in bench/*) continue ;; esac
		case $(realpath -m --relative-to=. "$(dirname "$page")/$target") in
		LICENSE | *.md | docs/* | examples/*) ;;
		*) wrong "$page: not installed: $target" ;;
		esac
	done
done

# Words that begin with a folder: what stands in front of it is neither a letter nor part of a longer path.
paths() {
	{ grep -noE '(^|[^A-Za-z0-9_./$~-])(\./)?(src|tests|scripts|docs|bench|include|examples|completion)/[A-Za-z0-9_./*{},<>-]*' "$1" || true; } |
		sed -E 's/^([0-9]+:)[^A-Za-z]*/\1/; s/[.,>]+$//'
}

shopt -s extglob
for page in README.md CONTRIBUTING.md docs/*.md; do
	[ -f "$page" ] || continue
	while IFS=: read -r line path; do
		pattern=${path//<*([!>])>/*}
		# Braces are expanded by the shell alone: the word has no other character that it reads.
		[[ $pattern =~ [^A-Za-z0-9_./*{},-] ]] && { wrong "$page:$line: not a path: $path"; continue; }
		eval "words=(${pattern//\*/\\*})"
		for word in "${words[@]}"; do
			compgen -G "$word" >/dev/null || wrong "$page:$line: no such path: $word"
		done
	done < <(paths "$page")
done
exit $status
