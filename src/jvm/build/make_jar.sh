#!/bin/sh
# make_jar.sh JDK OUT-JAR WORK-FOLDER ASM-JARS(:) SOURCE... - compiles Java sources and makes a jar of them, with the ASM jars that they
# need in it, relocated. WORK-FOLDER is emptied.
set -eu

jdk=$1 out=$2 work=$3 asm=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/classes" "$work/tool"
# A run takes a second or two: C2, and a collector with threads, take longer than they save.
javac() {
	"$jdk/bin/javac" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC "$@"
}
# The code that concatenates strings is in the classes: to make it when a program starts takes many milliseconds.
javac -Xlint:all -Werror --release 17 -XDstringConcat=inline -d "$work/classes" -cp "$asm" "$@"
javac --release 17 -d "$work/tool" -cp "$asm" "$here/Relocate.java"
# What runs in the application: not the part of ASM that only the relocation uses.
jars=$(echo "$asm" | tr : '\n' | grep -v commons)
"$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$work/tool:$asm" Relocate "$out" "$work/classes" $jars
