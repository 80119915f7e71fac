#!/bin/bash
# lint.sh [format|headers|gcc|tidy|tidy-deep|shell]... - static checks of Waymark's own files; all but tidy-deep without an argument.
#
# format   clang-format-19 changes nothing (scripts/lint.sh fix applies it)
# headers  each header compiles alone, as C and, the public ones, as C++
# gcc      the host code and the public headers have no warning under gcc either
# tidy     clang-tidy-19 with .clang-tidy; needs build/compile_commands.json. Its analyzer follows fewer paths than by default
# tidy-deep  the same with all of them, in five times the time: before a merge
# shell    shellcheck has no warning (but on names that are put together and lists that are split on purpose)
set -u
cd "$(dirname "$0")/.." || exit 1

warnings=(-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2
	-Wimplicit-fallthrough -Werror)
include=(-Iinclude -Isrc -D_GNU_SOURCE "-DWAYMARK_VERSION=\"lint\"" "-DTO_PREFIX=\"../\"" "-DPRIVATE_DIR=\"lib/waymark\"" "-DINCLUDE_DIR=\"include\"")
# Host code that knows neither LLVM's C++ nor the calling conventions of the instrumented ABI: gcc understands all of it.
host=(src/base src/core src/format src/object src/snapshot src/analyze src/model src/report src/cli)

# Files of the tree that match one of the patterns (of find -path), sorted; no build folders.
own_files() {
	local pattern
	for pattern; do
		find . \( -name '.?*' -o -path './build*' \) -prune -o -type f -path "./$pattern" -printf '%P\n'
	done | LC_ALL=C sort
}

lint_format() {
	own_files '*.c' '*.h' '*.cpp' | xargs -r clang-format-19 --dry-run -Werror --style=file
}

lint_fix() {
	own_files '*.c' '*.h' '*.cpp' | xargs -r clang-format-19 -i --style=file
}

lint_headers() {
	local header status=0 javac jdk=()
	# Headers of the Java agent's clients name types of JVMTI; without a JDK they are left out, as the agent is.
	javac=$(command -v javac) && javac=$(realpath "$javac") &&
		jdk=(-isystem "${javac%/bin/javac}/include" -isystem "${javac%/bin/javac}/include/linux")
	while read -r header; do
		[ ${#jdk[@]} -gt 0 ] || ! grep -q '<jvmti.h>' "$header" || continue
		case $header in
		src/instrument/* | src/runtime/* | src/recorder/* | src/agent/clients/heap.h | src/sampler/host.h | include/waymark/runtime.h | include/waymark/recorder.h) compiler=clang-19 ;; # preserve_most is clang's
		*) compiler=gcc ;;
		esac
		echo "#include \"${header#*/}\"" |
			$compiler -std=gnu11 "${warnings[@]}" "${include[@]}" "${jdk[@]}" -I"$(llvm-config-19 --includedir)" -fsyntax-only -x c - || {
			echo "$header does not compile alone" >&2
			status=1
		}
	done < <(own_files 'include/*.h' 'src/*.h')
	return $status
}

lint_gcc() {
	local status=0 file made
	made=$(mktemp -d "${TMPDIR:-/tmp}/waymark-lint.XXXXXX")
	mkdir "$made/format" "$made/cli" && protoc-c --c_out="$made/format" -Isrc/format src/format/pprof.proto || status=1
	echo '#define WAYMARK_LLVM "19"' >"$made/cli/llvm_version.h"
	for file in include/waymark.h include/waymark/abi.h include/waymark/wmk.h; do
		for how in "gcc -std=c99 -x c" "gcc -std=gnu11 -D__WAYMARK__ -x c" "g++ -std=c++11 -x c++" \
			"g++ -std=c++17 -D__WAYMARK__ -x c++"; do
			echo "#include \"${file#*/}\"" | $how -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only - || status=1
		done
	done
	own_files "${host[@]/%//*.c}" | xargs -r -n 8 -P 2 gcc -std=gnu11 "${warnings[@]}" "${include[@]}" -isystem "$made" -isystem "$(llvm-config-19 --includedir)" -fsyntax-only || status=1
	rm -rf "$made"
	return $status
}

# tidy [ARGUMENT...]
tidy() {
	[ -f build/compile_commands.json ] || { echo "lint: build first: scripts/check.sh --fast" >&2; return 1; }
	scripts/tidy-database.py build build/tidy || return 1
	own_files 'src/*.c' | grep -vFxf build/tidy/sources | sed 's/^/lint: not checked, since the build leaves it out: /'
	# A process for each folder: folders have settings of their own, and which checks the analyzer has is settled by the first file of a process. The
	# largest first: none is left alone at the end.
	sed 's,/[^/]*$,,' build/tidy/sources | grep '^src/' | sort -u | xargs du -bS -d 0 | sort -rn | cut -f 2 |
		xargs -I '{}' -P "$(nproc)" sh -c 'folder=$1; shift; grep "^$folder/[^/]*\.c$" build/tidy/sources | xargs clang-tidy-19 -p build/tidy --quiet --warnings-as-errors="*" "$@"' \
			sh '{}' "$@" 2> >(grep -v -e 'warnings\? generated' -e 'Processing file' >&2)
}

# Functions of 20 blocks and more are analyzed by themselves, and not once more in each caller: of the callers more paths are followed with as many
# nodes. Half the nodes find as many faults so as all did before.
lint_tidy() {
	local word
	local -a limit=()
	for word in -Xclang -analyzer-config -Xclang max-nodes=20000 -Xclang -analyzer-config -Xclang max-inlinable-size=20; do
		limit+=("--extra-arg=$word")
	done
	tidy "${limit[@]}"
}

lint_tidy_deep() {
	tidy
}

lint_shell() {
	own_files '*.sh' | xargs -r shellcheck --severity=warning --exclude=SC1007,SC2034,SC2046,SC2154 .ci/run
}

[ $# -gt 0 ] || set -- format headers gcc tidy shell
status=0
for part in "$@"; do
	case $part in
	format | fix | headers | gcc | tidy | tidy-deep | shell) "lint_${part/-/_}" || status=1 ;;
	*)
		sed -n '2,9s/^# //p' "$0" >&2
		exit 2
		;;
	esac
done
exit $status
