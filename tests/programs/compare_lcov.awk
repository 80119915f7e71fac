# Compares the line counts of two lcov files: clang's own coverage and Waymark's, of the same workload.
#
#   awk -f compare_lcov.awk -v sources=REGEX [-v unstable=REGEX] [-v show=N] FACTS CLANG.info WAYMARK.info
#
# FACTS are lines of fields separated by tabs:
#   unfinished COUNT NAME FILE            a function that some activation never left
#   code FILE LINE COLUMN COUNT           Waymark: how often the code from that position ran, the blocks with it taken together
#   segment FILE LINE COLUMN COUNT        clang: what it counts from there to its next segment
#   macro FILE FIRST-LINE LAST-LINE       a macro is used there, as far as clang's coverage tells
#   define NAME                           a macro of the program
#
# The two counts of a line are to be the same. They may differ for these reasons, counted apart, the first that holds:
#   unfinished  in an unfinished function clang counts what follows a call that did not return, Waymark does not:
#                   waymark <= clang <= waymark + unfinished
#               and at a loop's condition twice, since clang derives its count from a jump back that never came
#   position    all code of the line has the count that clang gives at its position. Clang's count of the line is another one
#               because it is that of the region which goes on from the line before (a condition of several lines), of a
#               block that begins at the end of the line (`else {`), or 0 after a do-while loop with a break
#   end         so it is but for code at a `}`, `)` or `;`: jumps from the end of a block or loop, and the function's return, which
#               is shared by all its return statements; clang counts what falls through to there
#   loop        so it is but for code at the word `for`, `while` or `do`: jumps to the loop's condition; clang counts the way
#               into the loop
#   macro       a macro is used on the line: its branches, loops and labels are Waymark's line, clang counts them where the
#               macro is defined, and what follows differently. The flat builds of paths.sh have no macros
# Code at `&&` and `||` is left out of this: clang counts the whole condition there, Waymark what is decided.
# A function's lines begin at its FN record and end before the next.
#
# Only source files that match `sources` are compared, by their name without the directories above the program's (REGEX
# matches from there), and do not match `unstable`. Prints the first N lines that differ, then
#   lines N equal N unfinished N position N end N loop N macro N different N only-clang N only-waymark N
# Exit status 1: some differ, or nothing was compared.

function short(path) { # from where `sources` matches on
	sub(/\/\.flat/, "", path) # flat-cc.sh
	return match(path, sources) && (unstable == "" || path !~ unstable) ? substr(path, RSTART + 1) : ""
}
function base(path) {
	sub(/.*\//, "", path)
	return path
}
function has_macro(text,    n, i, word) {
	n = split(text, word, /[^a-zA-Z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (word[i] in defined)
			return 1
	return 0
}
# Why the counts of a line differ, by the positions of its code: position, end, loop, or different.
function kind_of(file, line, text, loose,    n, m, i, k, at, from, counts, region, expected, seen, here, kind) {
	n = split(code[file, line], at, " ")
	m = split(segments[file, line], from, " ")
	kind = "position"
	for (i = 1; i <= n; i++) {
		split(at[i], counts, ":")
		here = substr(text, counts[1])
		if (here ~ /^(&&|\|\|)/)
			continue
		seen = 1
		expected = before
		for (k = 1; k <= m; k++) {
			split(from[k], region, ":")
			if (region[1] + 0 <= counts[1] + 0)
				expected = region[2]
		}
		if (counts[2] + 0 <= expected + 0 && expected + 0 <= counts[2] + loose)
			continue
		if (here ~ /^[});]/)
			kind = "end"
		else if (here ~ /^(for|while|do)([^a-zA-Z0-9_]|$)/)
			kind = "loop"
		else
			return "different"
	}
	return seen ? kind : "different"
}
BEGIN {
	FS = ","
	if (show == "")
		show = 20
}
FNR == 1 { pass++ }
pass == 1 {
	split($0, f, "\t")
	if (f[1] == "unfinished")
		unfinished[f[3] "\t" base(f[4])] += f[2]
	else if (f[1] == "macro" && (file = short(f[2])))
		for (line = f[3] + 0; line <= f[4] + 0; line++)
			macro[file, line] = 1
	else if (f[1] == "define")
		defined[f[2]] = 1
	else if (f[1] == "code" && (file = short(f[2])))
		code[file, f[3]] = code[file, f[3]] " " f[4] ":" f[5]
	else if (f[1] == "segment" && (file = short(f[2]))) {
		segments[file, f[3]] = segments[file, f[3]] " " f[4] ":" f[5]
	}
	next
}
/^SF:/ {
	file = short(substr($0, 4))
	if (pass == 2)
		path[file] = substr($0, 4)
	next
}
!file { next }
pass == 2 && /^FN:/ {
	line = substr($1, 4) + 0
	name = $2
	sub(/^.*:/, "", name) # local functions are called FILE:NAME
	begins[file, line] = name
	next
}
/^DA:/ {
	line = substr($1, 4) + 0
	if (pass == 2) {
		clang[file, line] = $2
		if (line > last[file])
			last[file] = line
	} else {
		waymark[file, line] = $2
	}
}
END {
	for (file in last) {
		name = ""
		latest = 0
		for (line = 1; line <= last[file]; line++) {
			if ((getline text <path[file]) < 1)
				text = ""
			before = latest # clang's count where the line begins
			if ((file, line) in segments) {
				latest = segments[file, line]
				sub(/.*:/, "", latest)
			}
			if ((file, line) in begins)
				name = begins[file, line]
			if (!((file, line) in clang))
				continue
			c = clang[file, line]
			if (!((file, line) in waymark)) {
				only_clang++
				continue
			}
			w = waymark[file, line]
			lines++
			loose = unfinished[name "\t" base(file)] * (text ~ /(^|[^a-zA-Z0-9_])(for|while)[ \t]*\(/ ? 2 : 1)
			if (c == w)
				kind = "equal"
			else if (w <= c && c <= w + loose)
				kind = "unfinished"
			else if ((kind = kind_of(file, line, text, loose)) == "different" && ((file, line) in macro || has_macro(text)))
				kind = "macro"
			count[kind]++
			if (kind == "different" && count[kind] <= show)
				printf "  %s:%d %s: clang %s, waymark %s%s: %s\n", file, line, name, c, w, loose ? ", unfinished " loose : "", text
		}
		close(path[file])
	}
	for (key in waymark)
		if (!(key in clang))
			only_waymark++
	printf "lines %d", lines
	n = split("equal unfinished position end loop macro different", kinds, " ")
	for (i = 1; i <= n; i++)
		printf " %s %d", kinds[i], count[kinds[i]]
	printf " only-clang %d only-waymark %d\n", only_clang, only_waymark
	exit count["different"] > 0 || lines == 0
}
