#!/bin/sh
# circles.sh BUILD - no more than three files of a folder of src/ use each other in a circle.
#
# A file uses another one when its object needs a symbol, of code or data, hidden or not, that the other one's object defines (nm).
# Files that reach each other are a circle (a strongly connected component; Tarjan 1972). One of more than three files is printed with
# the symbols that hold it together, and the test fails. Each library is looked at by itself, and in it the files of each folder of
# src/: arrows between folders are layout.sh's, and what src/recorder declares for its clients to define is no circle.
set -eu
build=$1

find "$build/src" -path '*.p/*' -name '*.o' -type f | LC_ALL=C sort >"${TMPDIR:-/tmp}/circles.$$"
trap 'rm -f "${TMPDIR:-/tmp}/circles.$$"' EXIT
[ -s "${TMPDIR:-/tmp}/circles.$$" ] || { echo "no objects below $build/src"; exit 1; }
xargs nm -A -P <"${TMPDIR:-/tmp}/circles.$$" | awk '
# "PATH: SYMBOL TYPE [VALUE SIZE]" -> nodes "LIBRARY/FILE"
{
	path = $1
	sub(/:$/, "", path)
	n = split(path, part, "/")
	library = part[n - 1]
	sub(/\.p$/, "", library)
	file = part[n]
	sub(/\.o$/, "", file)
	folder = part[n - 2]
	if (file ~ /^\.\._/) {
		file = substr(file, 4)
		folder = file
		sub(/_.*/, "", folder)
		file = substr(file, length(folder) + 2)
	}
	library = library "/" folder
	node = library "/" file
	if (!(node in library_of)) {
		library_of[node] = library
		nodes[++node_count] = node
	}
	if ($3 == "U" || $3 == "w" || $3 == "v")
		needs[++need_count] = node " " $2
	else if ($3 ~ /^[TDBRSCWVGi]$/)
		definer[library " " $2] = node
}

function strong(v,    w, i, n, out) {
	index_of[v] = low[v] = ++last_index
	stack[++depth] = v
	is_on_stack[v] = 1
	n = split(successors[v], out, " ")
	for (i = 1; i <= n; i++) {
		w = out[i]
		if (!(w in index_of)) {
			strong(w)
			if (low[w] < low[v])
				low[v] = low[w]
		} else if (is_on_stack[w] && index_of[w] < low[v]) {
			low[v] = index_of[w]
		}
	}
	if (low[v] != index_of[v])
		return
	circle_count++
	do {
		w = stack[depth--]
		is_on_stack[w] = 0
		circle[w] = circle_count
		size[circle_count]++
	} while (w != v)
}

END {
	for (i = 1; i <= need_count; i++) {
		split(needs[i], pair, " ")
		from = pair[1]
		to = definer[library_of[from] " " pair[2]]
		if (to == "" || to == from)
			continue
		edge = from " " to
		if (!(edge in symbols)) {
			successors[from] = successors[from] " " to
			edges[++edge_count] = edge
		}
		symbols[edge] = symbols[edge] " " pair[2]
	}
	for (i = 1; i <= node_count; i++)
		if (!(nodes[i] in index_of))
			strong(nodes[i])
	for (c = 1; c <= circle_count; c++) {
		if (size[c] <= 3)
			continue
		status = 1
		print size[c] " files use each other in a circle:"
		for (i = 1; i <= edge_count; i++) {
			split(edges[i], pair, " ")
			if (circle[pair[1]] == c && circle[pair[2]] == c)
				print "  " pair[1] " -> " pair[2] ":" symbols[edges[i]]
		}
	}
	exit status
}'
