#!/bin/bash
# make.sh JDK DIR - builds the calling-context tree as an agent: DIR/base (java.lang.Thread with a field more, CallTree), DIR/agent.jar,
# DIR/rewriter.jar; checks it. DIR/options has what java needs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
jdk=$1 dir=$2
asm=/usr/share/java/asm.jar:/usr/share/java/asm-tree.jar
rm -rf "$dir"
mkdir -p "$dir/base/java/lang" "$dir/tools" "$dir/agent" "$dir/rewriter"
dir=$(cd "$dir" && pwd)
"$jdk/bin/javac" -d "$dir/base" --patch-module "java.base=$here" "$here/java/lang/CallTree.java"
"$jdk/bin/javac" -cp $asm -d "$dir/tools" "$here/PatchThread.java"
"$jdk/bin/java" -cp "$asm:$dir/tools" PatchThread "$dir/base/java/lang/Thread.class"
"$jdk/bin/javac" --patch-module "java.base=$dir/base" -d "$dir/agent" "$here/Agent.java"
"$jdk/bin/javac" -cp $asm -d "$dir/rewriter" "$here/TreeRewriter.java"
printf 'Premain-Class: Agent\n' >"$dir/manifest"
"$jdk/bin/jar" -c -f "$dir/agent.jar" -m "$dir/manifest" -C "$dir/agent" .
"$jdk/bin/jar" -c -f "$dir/rewriter.jar" -C "$dir/rewriter" .
echo "--patch-module java.base=$dir/base -javaagent:$dir/agent.jar=$dir/rewriter.jar:$asm;$dir/nodes" >"$dir/options"

"$jdk/bin/javac" -d "$dir/tools" "$here/Check.java"
read -r -a options <"$dir/options"
wanted=$("$jdk/bin/java" "${options[@]}" -cp "$dir/tools" Check)
[ "$(cat "$dir/nodes")" = "$wanted" ] || { echo "cct: $(cat "$dir/nodes") nodes in Check, not $wanted" >&2; exit 1; }
