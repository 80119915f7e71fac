#!/bin/sh
# compile.sh JDK JAR CLASSES SOURCE... - compiles programs that several tests here run, once for all of them (`compiled` of setup.sh).
set -eu
jdk=$1 jar=$2 classes=$3
shift 3
rm -rf "$classes"
"$jdk/bin/javac" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -nowarn -cp "$jar" -d "$classes" "$@" 2>"$classes.log" || {
	status=$?
	cat "$classes.log" >&2
	exit $status
}
echo "$jdk" >"$classes/jdk"
