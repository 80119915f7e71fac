#!/bin/bash
# Debian's Java programs that no test of the project knows: each runs alone, under `waymark run` with samples, allocations, waits and exceptions
# by walks, by words that are compared with the stack, and is attached to, left and attached to again. It must print the same and end in the
# same way.
#
#   bench/jvm/strangers.sh [-b BUILD-DIR] [-j JDK] [NAME...]
#
# Those that are not installed, or that fail alone, are left out. Prints a line of Markdown for each: samples, the share of these without a stack,
# events of the clients, captures by words that agreed with the stack and that differed, how often it was attached to before it ended, and
# what differs. Exit status 1: something does.
# Needs: scripts/install-deps.sh bench-jvm
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
jdk=$(dirname "$(dirname "$(realpath "$(command -v javac)")")")
while getopts b:j: name; do
	case $name in
	b) build=$OPTARG ;;
	j) jdk=$OPTARG ;;
	*) sed -n '6p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
waymark=$(cd "$build" && pwd)/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_JVM LD_PRELOAD JAVA_TOOL_OPTIONS CLASSPATH
# Start scripts take the virtual machine from one of these.
export JAVA_HOME=$jdk PATH=$jdk/bin:$PATH JAVACMD=$jdk/bin/java HOME=$dir LC_ALL=C.UTF-8
mkdir -p "$HOME/.java/.userPrefs" # the first program that has preferences says that it has made it
failures=0 wanted=" $* "
java=$jdk/bin/java jars=/usr/share/java

# begin NAME: an empty folder with the program's inputs to work in
begin() { rm -rf work && cp -r inputs work && cd work || exit 2; }

# run NAME COMMAND...: prints to NAME.txt and NAME.err; the status is the command's
run() {
	local name=$1 status
	shift
	begin
	timeout -k 5 400 "$@" >"../$name.txt" 2>"../$name.err" </dev/null
	status=$?
	cd ..
	return $status
}

# Lines that differ between two runs alone: times, and names of what is made anew each time.
plain() {
	grep -av '^waymark' "$1" | grep -av '^WARNING: ' | sed -E 's/[0-9]+([.,][0-9]+)? ?(ms|s|sec|seconds|minutes)\b/TIME/g; s/@[0-9a-f]{5,8}\b/@HASH/g
		s/(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} .*/DATE/; s/[0-9]{1,2}:[0-9]{2}:[0-9]{2}/CLOCK/g; s/0\.[0-9]+[0-9.,]*/FRACTION/g; s/-[0-9]{6,}/-NUMBER/g; s/(Free memory|Total memory|Max memory|Speed|CPU time|wall clock).*/\1/i; s/[0-9]+ M[ob]\b/MEMORY/g; s/[0-9]+ assignments.*//'
}

# compare NAME STATUS: with the run alone; what differs is added to $what
compare() {
	[ "$2" = "$alone" ] || what="${what}$1: status $2, alone $alone; "
	diff -a <(plain alone.txt) <(plain "$1.txt") >diff.txt || what="${what}$1: output $(head -n 3 diff.txt | tr '\n|' '  '); "
	diff -a <(plain alone.err) <(plain "$1.err") >diff.txt || what="${what}$1: errors $(head -n 3 diff.txt | tr '\n|' '  '); "
}

# virtual_machine PID: the number of the java among the process and what it has started
virtual_machine() {
	local child
	[ "$(readlink "/proc/$1/exe")" != "$(realpath "$java")" ] || { echo "$1"; return; }
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do virtual_machine "$child"; done
}

# attach COMMAND...: attaches to the program as soon as it can be, detaches, attaches again; sets `attached`
attach() {
	local pid machine='' status step
	begin
	"$@" >../attach.txt 2>../attach.err </dev/null &
	pid=$!
	cd ..
	attached=0
	for step in 1 detach 2; do
		while kill -0 $pid 2>/dev/null; do
			machine=$(virtual_machine $pid | head -n 1)
			[ -n "$machine" ] || { sleep 0.02; continue; }
			if [ $step = detach ]; then
				timeout 60 "$waymark" attach -q --detach "$machine" >>said.txt 2>&1 && break
			elif timeout 60 "$waymark" attach -q --sample --alloc --contention -o "$dir/attached/$step.wmk" "$machine" >>said.txt 2>&1; then
				attached=$step
				break
			fi
			sleep 0.05
		done
	done
	wait $pid
	status=$?
	compare attach $status
}

# count METRIC FILE...: of all recordings
count() {
	local metric=$1 file
	shift
	for file; do
		[ ! -f "$file" ] || "$waymark" report --top=1 "$file" 2>>report.err
	done | awk -v metric="$metric" '/^Totals/ { is_total = 1 } /^$/ { is_total = 0 } is_total && $2 == metric { gsub(",", ""); n += $1 } END { print n + 0 }'
}

# try NAME COMMAND...
try() {
	local name=$1 alone status what='' attached compared samples unknown
	shift
	[ "$wanted" = '  ' ] || [ "${wanted#* "$name" }" != "$wanted" ] || return 0
	command -v "$1" >/dev/null || return 0
	rm -rf walked words attached && mkdir walked words attached
	run alone "$@"
	alone=$?
	run walked "$waymark" run -q --sample --alloc --contention --exceptions -o "$dir/walked/" "$@"
	compare walked $?
	run words "$waymark" run -q --check --encode --alloc --exceptions --contention -o "$dir/words/" "$@"
	status=$?
	compared=$(awk '/^waymark: [0-9]+ captures agreed with the stack, [0-9]+ differed/ { a += $2; d += $8 } END { print a + 0 ", " d + 0 }' words.err)
	[ "${compared#*, }" = 0 ] || what="${what}words: contexts differ; "
	compare words $status
	: >said.txt
	attach "$@"
	if [ -n "$what" ]; then
		run again "$@"
		compare again $?
		[ "${what#*again: }" = "$what" ] || { echo "$name: left out: two runs alone differ: $what" >&2; return 0; }
	fi
	grep -a '^waymark' walked.err words.err | grep -av 'captures agreed\|compared samples\? agree' | head -n 1 >said.txt
	[ -z "$what" ] || failures=$((failures + 1))
	what=${what:-as alone$([ "$alone" = 0 ] || echo ", status $alone")}
	[ ! -s said.txt ] || what="$what; $(cut -c 1-150 said.txt | tr '|' ' ')"
	samples=$(count samples walked/waymark-j*.wmk)
	unknown=$(for file in walked/waymark-j*.wmk; do "$waymark" report --top=1 "$file"; done 2>>report.err | tr -d , |
		awk 'match($0, /[0-9]+ without outermost/) { n += substr($0, RSTART) } END { print n + 0 }')
	printf '| %s | %d | %s | %d | %d | %d | %s | %d | %s |\n' "$name" "$samples" \
		"$(awk -v n="$samples" -v u="$unknown" 'BEGIN { if (n) printf "%.1f %%", 100 * u / n }')" "$(count alloc walked/waymark-j*.wmk)" \
		"$(count contention walked/waymark-j*.wmk)" "$(count exception walked/waymark-j*.wmk)" "$compared" "$attached" "${what%; }"
}

echo "| program | samples | without a stack | alloc | contention | exceptions | words: agreed, differed | attached | result |"
echo "|---|---|---|---|---|---|---|---|---|"

# ---- inputs ----

mkdir inputs && cd inputs || exit 2
cat >Small.java <<'J'
import java.util.*;
public class Small {
	interface Shape { double area(); }
	record Square(double side) implements Shape { public double area() { return side * side; } }
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] arguments) {
		Map<String, Integer> counts = new TreeMap<>();
		for (int i = 0; i < 300000; i++) counts.merge("k" + i % 997, i, Integer::sum);
		System.out.println(counts.size() + " " + new Square(3).area() + " " + fib(27));
	}
}
J
cat >build.xml <<'X'
<project default="all"><target name="all"><mkdir dir="out"/><javac srcdir="." destdir="out" includes="Small.java" includeantruntime="false"/>
<jar destfile="small.jar" basedir="out"/><java classname="Small" classpath="small.jar" fork="false"/><checksum file="build.xml"/></target></project>
X
cat >work.groovy <<'G'
def counts = [:].withDefault { 0 }
(1..60000).each { counts["k${it % 101}"] += it }
println counts.collect { k, v -> "$k=$v" }.sort().take(3)
def fib; fib = { n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
println fib(20)
try { [1].get(4) } catch (IndexOutOfBoundsException e) { println 'caught' }
G
echo 'object Work { def fib(n: Int): Int = if (n < 2) n else fib(n - 1) + fib(n - 2); def main(a: Array[String]): Unit = println(fib(28) + (1 to 1000).map(_.toString).filter(_.contains("7")).size) }' >work.scala
echo '(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (println (fib 27) (reduce + (pmap #(* % %) (range 2000))) (count (frequencies (map #(mod % 13) (range 200000))))) (try (/ 1 0) (catch ArithmeticException e (println (.getMessage e)))) (shutdown-agents)' >work.clj
echo 'h = Hash.new(0); 300000.times { |i| h[(i * 7 % 1000).to_s] += i }; puts h.size, h.values.sum; q = Queue.new; t = Thread.new { 1000.times { |i| q << i } }; s = 0; 1000.times { s += q.pop }; t.join; puts s; begin; Integer("x"); rescue ArgumentError => e; puts e.class; end' >work.rb
printf 'class A(object):\n    def f(self, n):\n        return n if n < 2 else self.f(n - 1) + self.f(n - 2)\nd = {}\nfor i in range(60000):\n    d[str(i %% 97)] = d.get(str(i %% 97), 0) + i\nprint(len(d), sum(d.values()), A().f(17))\ntry:\n    int("x")\nexcept ValueError:\n    print("caught")\n' >work.py
{ echo '@startuml'; for i in $(seq 60); do echo "A$((i % 7)) -> B$((i % 5)) : call $i"; done; echo '@enduml'; } >work.puml
{ echo 'grammar Work; file: (stat ";")* EOF; stat: ID "=" expr | "print" expr; expr: expr ("*"|"/") expr | expr ("+"|"-") expr | INT | ID | "(" expr ")" ;' | tr '"' "'"
	echo 'ID: [a-z]+ ; INT: [0-9]+ ; WS: [ \n\t]+ -> skip ;'; } >Work.g4
echo 'int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); } print(fib(16)); m = new TreeMap(); for (i = 0; i < 4000; i++) m.put("k" + (i % 17), i); print(m); try { Integer.parseInt("x"); } catch (NumberFormatException e) { print("caught"); }' >work.bsh
{ echo "connect 'jdbc:derby:memory:work;create=true'; create table t (id int primary key, name varchar(40)); autocommit off;"
	for i in $(seq 600); do echo "insert into t values ($i, 'name $((i % 37))');"; done
	echo "commit; select name, count(*), sum(id) from t group by name order by 2 desc, 1; select nothing from t; exit;"; } >work.sql
{ echo "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(40));"; for i in $(seq 1500); do echo "INSERT INTO t VALUES ($i, 'name $((i % 37))');"; done
	echo "SELECT name, COUNT(*), SUM(id) FROM t GROUP BY name ORDER BY 2 DESC, 1;"; } >hsql.sql
for i in $(seq 400); do echo "function f$i(a, b) { var longName = a + b * $i; if (longName > 10) { return f$(((i + 1) % 400 + 1))(longName - 11, 0); } return longName + 'text'; }"; done >work.js
{ echo '%%'; echo '%class Lexer'; echo '%standalone'; echo '%unicode'; for i in $(seq 40); do echo "\"word$i\" { System.out.print($i); }"; done; echo '[:jletter:][:jletterdigit:]* { }'; echo '[^] { }'; } >work.flex
cat >Work.jj <<'J'
options { STATIC = false; } PARSER_BEGIN(Work) public class Work {} PARSER_END(Work)
SKIP : { " " | "\n" } TOKEN : { <NUM: (["0"-"9"])+> | <ID: ["a"-"z"] (["a"-"z","0"-"9"])*> }
void Start() : {} { ( Expr() ";" )* <EOF> } void Expr() : {} { Term() ( ("+"|"-") Term() )* } void Term() : {} { Fact() ( ("*"|"/") Fact() )* }
void Fact() : {} { <NUM> | <ID> | "(" Expr() ")" }
J
{ echo '@relation r'; for i in 1 2 3 4; do echo "@attribute a$i numeric"; done; echo '@attribute class {x,y,z}'; echo '@data'
	awk 'BEGIN { seed = 7; for (i = 0; i < 1500; i++) { line = ""; sum = 0; for (j = 0; j < 4; j++) { seed = (seed * 16807) % 2147483647; v = seed % 100; sum += v * (j + 1); line = line v "," } print line (sum % 3 == 0 ? "x" : sum > 500 ? "y" : "z") } }'; } >work.arff
awk 'BEGIN { seed = 11; n = 130; m = 540; print "p cnf", n, m; for (i = 0; i < m; i++) { line = ""; for (j = 0; j < 3; j++) { seed = (seed * 16807) % 2147483647; v = seed % n + 1; seed = (seed * 16807) % 2147483647; line = line (seed % 2 ? v : -v) " " } print line "0" } }' >work.cnf
awk 'BEGIN { seed = 3; split("A C G T", base, " "); for (i = 0; i < 20000; i++) { s = q = ""; for (j = 0; j < 60; j++) { seed = (seed * 16807) % 2147483647; s = s base[seed % 4 + 1]; q = q sprintf("%c", 35 + seed % 38) } printf "@read%d\n%s\n+\n%s\n", i, s, q } }' >work.fastq
seq 2000 | sed 's/$/ and some words of text/' >work.txt
echo '(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (print (fib 20)) (print (length (loop for i below 30000 collect (princ-to-string i)))) (handler-case (error "x") (error () (print :caught))) (ext:quit :status 4)' >work.lisp
printf '+---+  +----+\n|   |  |    |\n| a +->+ b  |\n+---+  +----+\n' >work.ditaa
echo 'public aspect Traced { static int calls; before(): execution(* Small.fib(..)) { calls++; } after(): execution(* Small.main(..)) { System.out.println("calls " + calls); } }' >Traced.aj
echo 'int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
System.out.println(fib(25))
new int[2][5].length
Integer.parseInt("x")
/exit 2' >work.jsh
cd .. || exit 2

# ---- programs ----

try ant ant -S -f build.xml
try groovy groovy work.groovy
try scalac sh -c 'mkdir out && scalac -d out work.scala && scala -cp out Work'
try clojure clojure work.clj
try jruby jruby work.rb
try jython jython work.py
try plantuml sh -c 'plantuml -ttxt -pipe <work.puml'
try plantuml-svg sh -c 'plantuml -tsvg work.puml && sed "s/<!--.*//" work.svg | md5sum'
try antlr4 sh -c 'antlr4 -visitor Work.g4 && cat *.java | md5sum'
try bsh bsh work.bsh
try ij ij work.sql
try hsqldb hsqldb-sqltool --autoCommit --inlineRc=url=jdbc:hsqldb:mem:work,user=SA,password= hsql.sql
try closure-compiler closure-compiler --compilation_level ADVANCED_OPTIMIZATIONS --js work.js
try yui-compressor yui-compressor work.js
try jflex sh -c 'jflex -q work.flex && grep -v "^// DO NOT\|on [0-9]" Lexer.java | md5sum'
try javacc sh -c 'javacc Work.jj && cat Work*.java | md5sum'
try weka "$java" -cp "$jars/weka.jar:$jars/java-cup-0.11b-runtime.jar" weka.classifiers.trees.J48 -t work.arff
try sat4j "$java" -jar $jars/org.ow2.sat4j.core.jar work.cnf
try trimmomatic TrimmomaticSE -threads 2 work.fastq out.fastq SLIDINGWINDOW:4:20 MINLEN:20
try picard PicardCommandLine FastqToSam F1=work.fastq O=out.sam SM=x QUIET=true VERBOSITY=ERROR
try abcl abcl --noinit --batch --load work.lisp
try ditaa sh -c 'ditaa -o work.ditaa >/dev/null && md5sum work.png'
try ajc sh -c "mkdir out && ajc -17 -cp $jars/aspectjrt.jar -d out Small.java Traced.aj; $java -cp out:$jars/aspectjrt.jar Small"
try pdfbox "$java" -cp "$jars/pdfbox2-tools.jar:$jars/pdfbox2.jar:$jars/fontbox2.jar:$jars/commons-logging.jar" org.apache.pdfbox.tools.TextToPDF work.pdf work.txt
try proguard sh -c "mkdir out && javac -d out --release 8 Small.java 2>/dev/null || javac -d out Small.java; proguard -injars out -outjars small.jar -libraryjars $jars/antlr4-runtime.jar -dontwarn -ignorewarnings -keep 'public class Small { public static void main(java.lang.String[]); }'"
try kotlinc sh -c 'kotlinc -version'
try jshell jshell -s work.jsh
try javadoc sh -c 'javadoc -quiet -Xdoclint:none -d out Small.java && find out -type f | sort'
[ $failures -eq 0 ]
