#!/bin/bash
# spaces.sh BUILD JDK SOURCES - calls in thousands of spaces, over code that is not instrumented, of one method whose own call has a long
# code: whatever spaces a call and the method have, the method finds that the word is not its own (core/contexts/sitecode.h).
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"
names=2200

# A proxy is between the calls and the method, `invoke`.
awk -v names="$names" 'BEGIN {
	print "import dev.waymark.Waymark;"
	print "interface Names {"
	for (i = 0; i < names; i++) print "void n" i "();"
	print "}"
	print "class Many {"
	print "static void hub() { Waymark.event(\"hub\", 1); }"
	print "static void many() {"
	for (i = 0; i < 1100; i++) print "hub();"
	print "}}"
	print "class Handler implements java.lang.reflect.InvocationHandler {"
	print "public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] arguments) { Many.hub(); return null; }"
	print "}"
	print "class Main {"
	for (i = 0; i < names; i++) {
		if (i % 100 == 0) print (i ? "}" : "") "static void part" i "(Names names) {"
		print "names.n" i "();"
	}
	print "}"
	print "public static void main(String[] arguments) throws Exception {"
	print "Class.forName(\"Many\");"
	print "Names names = (Names) java.lang.reflect.Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {Names.class}, new Handler());"
	for (i = 0; i < names; i += 100) print "part" i "(names);"
	print "}}"
}' >Main.java
javac -cp "$jar" -d classes Main.java || exit 1

for encoder in fast lucce; do
	rm -f run.wmk
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 120 "$jdk/bin/java" "-agentpath:$agent=check,encoder=$encoder,exclude=*Proxy*" -cp classes Main 2>err.txt ||
		fail "$encoder: status $?"
	[ "$(cat err.txt)" = "waymark: $names captures agreed with the stack, 0 differed" ] || { head -n 3 err.txt | cut -c1-500; fail "$encoder: check"; }
	"$waymark" report --format folded --metric hub run.wmk >folded.txt || fail "$encoder: report"
	[ "$(grep -c '^Main\.main;Main\.part[0-9]*;Handler\.invoke;Many\.hub [0-9]*$' folded.txt)" = "$((names / 100))" ] ||
		{ head -n 3 folded.txt; fail "$encoder: stacks"; }
done
[ "$failures" = 0 ]
