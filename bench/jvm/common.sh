#!/bin/bash
# common.sh - which programs bench/jvm has, and how one is run. The scripts source it after they have set `here`, `build`, `jdk`, `dir` and
# `encodings`; the last three may be empty.

agent=$(cd "$build" && pwd)/src/jvm/libwaymark-jvm.so
jdk=${jdk:-$(dirname "$(dirname "$(realpath "$(command -v javac)")")")}
all_programs='ecj javac xalan fop batik h2 jython lucene sunflow tomcat checkstyle rhino'

# Class of the program's work and its jars, patterns in /usr/share/java.
# shellcheck disable=SC2034 # read by the scripts
describe() { # PROGRAM
	local xml='xmlgraphics-commons commons-io commons-logging xalan2 serializer xercesImpl xml-apis xml-apis-ext'
	case $1 in
	ecj) work=Ecj jars='eclipse-jdt-core' ;;
	javac) work=Javac jars='' ;;
	xalan) work=Xalan jars='xalan2 serializer xercesImpl xml-apis' ;;
	fop) work=Fop jars="fop fontbox2 batik-all $xml" ;;
	batik) work=Batik jars="batik-all $xml" ;;
	h2) work=H2 jars='h2' ;;
	jython) work=Jython jars='jython' ;;
	lucene) work=Lucene jars='lucene-core-8* lucene-queryparser-8* lucene-analyzers-common-8*' ;;
	sunflow) work=Sunflow jars='sunflow janino' ;;
	tomcat)
		work=Server jars='tomcat9-catalina tomcat9-coyote tomcat9-jasper tomcat9-jasper-el tomcat9-util tomcat9-util-scan tomcat9-juli'
		jars="$jars tomcat9-jni tomcat9-annotations-api tomcat9-servlet-api tomcat9-jsp-api tomcat9-el-api tomcat9-jaspic-api"
		jars="$jars tomcat9-api eclipse-jdt-core"
		;;
	checkstyle)
		work=Checkstyle jars='checkstyle antlr4-runtime commons-beanutils commons-collections3 commons-logging guava picocli'
		jars="$jars Saxon-HE reflections"
		;;
	rhino) work=Rhino jars='rhino' ;;
	*) echo "$1: no such program; there are: $all_programs" >&2; exit 2 ;;
	esac
}

# Sets `jars` to a class path, or `why` to what is missing.
find_jars() {
	local path='' jar found
	for jar in $jars; do
		found=$(compgen -G "/usr/share/java/$jar.jar" | sort | head -n 1) || true
		[ -n "$found" ] && [ -e "$found" ] || { why="$jar.jar is not in /usr/share/java"; return 1; }
		path=$path:$found
	done
	jars=${path#:}
}

# Compiles what drives a program; sets `command`, which takes SCRATCH ITERATIONS TIMES behind it. 1: it cannot run, and `why`.
prepare() { # PROGRAM
	local classes
	describe "$1"
	find_jars || return 1
	classes=$dir/classes/$1
	mkdir -p "$classes"
	"$jdk/bin/javac" -nowarn --release 17 -cp "$jars" -d "$classes" "$here/drivers/Drive.java" "$here/drivers/Inputs.java" "$here/drivers/Work.java" \
		"$here/drivers/$work.java" >"$dir/javac.log" 2>&1 || { why=$(grep -m 1 error "$dir/javac.log"); return 1; }
	# A heap that is large for all of them: the tree of javac has 60 million nodes.
	command=(-Xms1g -Xmx6g -Djava.awt.headless=true -Djava.util.logging.SimpleFormatter.format='%5$s%n' -cp "$classes${jars:+:$jars}"
		Drive "$work" "$dir/inputs")
}

# After the options: a folder, what the programs work on, the strings of the agent's options in `options`.
begin() {
	[ -f "$agent" ] || { echo "$agent is not built" >&2; exit 2; }
	if [ -z "$dir" ]; then
		dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-jvm.XXXXXX")
		trap 'rm -rf "$dir"' EXIT
	fi
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	[ -f "$dir/inputs/done" ] || { "$here/inputs.sh" "$jdk" "$dir/inputs" && touch "$dir/inputs/done"; }
	# Split at semicolons; an empty string is one of them.
	IFS=';' read -r -a options <<<"$encodings"
	[ ${#options[@]} -gt 0 ] || options=('')
	case $encodings in *';') options+=('') ;; esac
	unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_JVM LD_PRELOAD JAVA_TOOL_OPTIONS
}
