#!/bin/sh
# layout.sh TREE - checks how the source tree is put together; prints each finding as "file:line: what" and fails on any.
#
#  1. Includes follow the arrows: base <- core <- format <- {object, llvm}; object <- snapshot <- model <- report <- cli;
#     llvm <- {instrument, analyze}; analyze <- model; recorder <- {runtime, native, jvm}; native <- {agent, sampler, jvm}. recorder and runtime use nothing else but
#     include/ and format/scheme.h, which is compiled into both sides; agent and jvm encode in-process, so they use core, too,
#     and the agent runtime/heap and runtime/paths, the sampler runtime/heap, which know nothing of how compiled code keeps its contexts; jvm uses
#     sampler/walk, which knows stacks and nothing of samples.
#     Only llvm, instrument and analyze include LLVM, only object and snapshot ELF and DWARF (recorder, native and agent have their own
#     readers of what is loaded). base and core use only headers of ISO C.
#     Within agent, jvm/c, snapshot and model a folder includes from those before it in the list of rooms below. Headers beside
#     these folders (snapshot/snapshot.h) are for all of them.
#  2. Only src/cli prints, exits or aborts.
#     src/core/contexts takes no memory but from an allocator that is handed in.
#  3. Each .c and .cpp opens with a comment that says what it does.
#  4. No file is over 900 lines.
#
# Comments and string literals are taken out before rule 2 looks at the code.
set -eu
cd "$1"

found=$(find src include tests bench examples \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.sh' \) -type f 2>/dev/null |
	LC_ALL=C sort | xargs awk '
BEGIN {
	may["base"] = " base "
	may["core"] = " base core "
	may["format"] = " base core format "
	may["object"] = " base core format object "
	may["snapshot"] = " base core format object snapshot "
	may["llvm"] = " base core format llvm "
	may["instrument"] = " base core format llvm instrument "
	may["recorder"] = " recorder "
	may["runtime"] = " recorder runtime "
	may["native"] = " base recorder native "
	may["sampler"] = " base recorder native sampler "
	may["agent"] = " base core recorder native agent "
	may["jvm"] = " base core recorder runtime native jvm "
	may["analyze"] = " base core format llvm analyze "
	may["model"] = " base core format object snapshot analyze model "
	may["report"] = " base core format object snapshot analyze model report "
	may["cli"] = " base core format object snapshot analyze model report cli "
	rooms("agent", "os scan threads code program patch context epoch follow clients life")
	rooms("jvm/c", "base codes contexts walk clients classes bridge")
	rooms("snapshot", "source image debug state inject hotspot")
	rooms("model", "source base tables merge contexts archive imports paths crash slices")
	n = split("assert ctype errno float inttypes limits math stdalign stdarg stdatomic stdbool stddef stdint stdio " \
		"stdlib string", names, " ")
	for (i = 1; i <= n; i++)
		iso["<" names[i] ".h>"] = 1
}

# The folders of a folder, in the order in which they may include each other.
function rooms(folder, list,    names, n, i) {
	n = split(list, names, " ")
	has_rooms[folder] = 1
	for (i = 1; i <= n; i++)
		place[folder "/" names[i]] = i
}

# The folder with rooms that a path below src/ is in, or "".
function house_of(path,    part, n) {
	n = split(path, part, "/")
	if (n > 1 && part[1] in has_rooms)
		return part[1]
	return n > 2 && part[1] "/" part[2] in has_rooms ? part[1] "/" part[2] : ""
}

# The room that a path below src/ is in: "" for a file beside the rooms.
function room_of(path, house,    rest) {
	rest = substr(path, length(house) + 2)
	return rest ~ /\// ? house "/" substr(rest, 1, index(rest, "/") - 1) : ""
}

function check_room(spec, name,    house, from, to) {
	house = house_of(substr(FILENAME, 5))
	if (house == "" || house_of(name) != house)
		return
	from = room_of(substr(FILENAME, 5), house)
	to = room_of(name, house)
	if (to != "" && !(to in place))
		finding(FNR, spec ": src/" to " has no place in the order of rooms")
	else if (from != "" && to != "" && place[to] > place[from])
		finding(FNR, spec ": src/" from " may not include from src/" to)
}

function finding(line, text) {
	print FILENAME ":" line ": " text
}

function check_include(spec,    name, part, to) {
	if (folder == "")
		return
	name = substr(spec, 2, length(spec) - 2)
	if (name ~ /^llvm(-c)?\//) {
		if (folder != "llvm" && folder != "instrument" && folder != "analyze")
			finding(FNR, spec ": only src/llvm, src/instrument and src/analyze know LLVM")
		return
	}
	if (name ~ /^(elf|gelf|libelf|dwarf)\.h$/ || name ~ /^elfutils\//) {
		if (folder != "object" && folder != "snapshot" && folder != "recorder" && folder != "native" && folder != "sampler" && folder != "agent")
			finding(FNR, spec ": only src/object and src/snapshot know ELF and DWARF")
		return
	}
	if (spec ~ /^</) {
		if ((folder == "base" || folder == "core") && !(spec in iso))
			finding(FNR, spec ": src/" folder " uses only headers of ISO C")
		return
	}
	split(name, part, "/")
	to = part[1]
	if (name == "waymark.h" || to == "waymark")
		return
	if (folder == "runtime" && name == "format/scheme.h")
		return
	if ((folder == "agent" && name ~ /^runtime\/(heap|paths)\//) || (folder == "sampler" && name ~ /^runtime\/heap\//) ||
	    (folder == "jvm" && name ~ /^sampler\/walk\//))
		return
	if (!(to in may))
		finding(FNR, spec ": write it as \"folder/file.h\"")
	else if (index(may[folder], " " to " ") == 0)
		finding(FNR, spec ": src/" folder " may not include from src/" to)
	else
		check_room(spec, name)
}

# The line without comments and string literals; in_comment goes on to the next line.
function code_of(line,    out, two, c) {
	out = ""
	while (line != "") {
		two = substr(line, 1, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				line = substr(line, 3)
			} else {
				line = substr(line, 2)
			}
		} else if (two == "/*") {
			in_comment = 1
			line = substr(line, 3)
		} else if (two == "//") {
			line = ""
		} else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^\047([^\047\\]|\\.)*\047/)) {
			out = out "\"\""
			line = substr(line, RLENGTH + 1)
		} else {
			out = out substr(line, 1, 1)
			line = substr(line, 2)
		}
	}
	return out
}

FNR == 1 {
	in_comment = 0
	folder = ""
	if (FILENAME ~ /^src\//) {
		split(FILENAME, path, "/")
		folder = path[2]
		if (!(folder in may)) {
			finding(1, "src/" folder " has no place in the order of folders")
			folder = ""
		} else if (house_of(substr(FILENAME, 5)) != "") {
			room = room_of(substr(FILENAME, 5), house_of(substr(FILENAME, 5)))
			if (room != "" && !(room in place))
				finding(1, "src/" room " has no place in the order of rooms")
		}
	}
	if (FILENAME ~ /\.(c|cpp)$/ && $0 !~ /^\/\*/)
		finding(1, "opens without a comment that says what it does")
}

FNR == 901 { finding(901, "the file is over 900 lines") }

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
	match($0, /["<][^">]*[">]/)
	check_include(substr($0, RSTART, RLENGTH))
	next
}

folder != "" && folder != "cli" {
	code = code_of($0)
	if (match(code, /(^|[^A-Za-z0-9_>.])(v?printf|puts|putchar|perror|abort|exit|errx?|warnx?)[ \t]*\(/) ||
	    match(code, /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/)) {
		word = substr(code, RSTART, RLENGTH)
		gsub(/[^A-Za-z0-9_]/, "", word)
		finding(FNR, word ": only src/cli prints, exits or aborts")
	}
	if (FILENAME ~ /^src\/core\/contexts\// &&
	    match(code, /(^|[^A-Za-z0-9_>.])(malloc|calloc|realloc|free|strn?dup|qsort|vec_grow|error_create)[ \t]*\(/)) {
		word = substr(code, RSTART, RLENGTH)
		gsub(/[^A-Za-z0-9_]/, "", word)
		finding(FNR, word ": src/core/contexts takes memory from an allocator that is handed in")
	}
}')

[ -z "$found" ] || printf '%s\n' "$found"
[ -z "$found" ]
