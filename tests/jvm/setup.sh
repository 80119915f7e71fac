#!/bin/bash
# setup.sh BUILD JDK SOURCES - what the scripts here begin with: a scratch folder to work in, the agent and its jar, and how to fail. They
# source it with their own arguments and end with the number of failures.
set -u
build=$1 jdk=$2 sources=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-jvm.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_JVM LD_PRELOAD JAVA_TOOL_OPTIONS
waymark=$build/waymark agent=$build/src/jvm/libwaymark-jvm.so jar=$build/src/jvm/waymark-jvm.jar
failures=0

# Options of runs that end in seconds: C2 and a collector with threads take more than half of their time. Programs that run for long enough
# have the virtual machine's own compilers and collector at least once with each encoder; these are for runs of other options of the agent.
quick=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)

# The compiler of $jdk.
javac() {
	"$jdk/bin/javac" "${quick[@]/#/-J}" "$@"
}

# release JDK: its number; 0: it is none.
release() {
	local found
	found=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null)
	[ -x "$1/bin/javac" ] || found=0
	echo "${found:-0}"
}

# The newest JDK of this machine.
newest() {
	local candidate ret=$jdk
	for candidate in /usr/lib/jvm/*; do
		[ "$(release "$candidate")" -le "$(release "$ret")" ] || ret=$candidate
	done
	echo "$ret"
}

# compiled NAME...: classes/ has those of the sources of these names: as the build compiled them, or with $jdk if that is not its JDK.
compiled() {
	local name
	local -a files=()
	mkdir -p classes
	for name; do
		if [ "$jdk" -ef "$(cat "$build/tests/jvm/classes/jdk")" ]; then
			cp "$build/tests/jvm/classes/$name"*.class classes || exit 1
		else
			files+=("$sources/$name.java")
		fi
	done
	[ ${#files[@]} = 0 ] || javac -nowarn -cp "$jar" -d classes "${files[@]}" || exit 1
}

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# agreed WHAT: err.txt has the line of the comparisons, all of which agreed, and nothing else
agreed() {
	grep -qx "waymark: [1-9][0-9]* captures agreed with the stack, 0 differed" err.txt && [ "$(wc -l <err.txt)" = 1 ] ||
		{ head -n 5 err.txt; fail "$1"; }
}
