#!/bin/bash
# inputs.sh JDK DIR - what the programs of bench/jvm work on, in DIR: sources of java.util and, under another name, of javac; XML; pictures;
# the files of work/. The same each time.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
jdk=$1 dir=$2
[ -f "$jdk/lib/src.zip" ] || { echo "$jdk/lib/src.zip is missing (openjdk-17-source)" >&2; exit 1; }
rm -rf "$dir"
mkdir -p "$dir/java" "$dir/pictures"
cp -r "$here/work/." "$here/../agent/work.js" "$dir/"
(cd "$dir/java" && "$jdk/bin/jar" -x -f "$jdk/lib/src.zip" java.base/java/util && mv java.base/java . && rmdir java.base)
# javac's own sources: a program that both compilers can compile without a class path.
(cd "$dir" && "$jdk/bin/jar" -x -f "$jdk/lib/src.zip" jdk.compiler/com/sun/tools/javac && mkdir twin &&
	mv jdk.compiler/com/sun/tools/javac twin/ && rm -r jdk.compiler)
find "$dir/twin" -name '*.java' -exec sed -i 's/com\.sun\.tools\.javac/twin.javac/g' {} +

# A generator of random numbers of its own: awks differ.
random='function random(n) { seed = (seed * 16807) % 2147483647; return seed % n }'
awk "$random"' BEGIN {
	seed = 5
	split("al be ga de ep ze et th io ka la mu nu xi om pi", parts, " ")
	print "<?xml version=\"1.0\"?>\n<data>"
	for (id = 1; id <= 1200; id++) {
		printf "<record id=\"%d\" group=\"%d\"><name>", id, random(40)
		for (i = 0; i < 3; i++) printf "%s", parts[random(16) + 1]
		printf "</name><price>%d.%02d</price><text>", random(9000), random(100)
		for (i = random(60); i >= 0; i--) printf "%s%s ", parts[random(16) + 1], parts[random(16) + 1]
		print "</text></record>"
	}
	print "</data>"
}' >"$dir/data.xml"

for picture in 1 2 3; do
	awk -v picture=$picture "$random"' BEGIN {
		seed = 11 * picture
		print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"300\">"
		print "<defs><linearGradient id=\"g\"><stop offset=\"0\" stop-color=\"red\"/><stop offset=\"1\" stop-color=\"blue\"/></linearGradient>"
		print "<filter id=\"f\"><feGaussianBlur stdDeviation=\"2\"/></filter></defs>"
		for (i = 0; i < 150; i++)
			printf "<path d=\"M%d %d C%d %d %d %d %d %d z\" fill=\"%s\" opacity=\"0.%d\"%s/>\n", random(400), random(300), random(400),
				random(300), random(400), random(300), random(400), random(300),
				i % 3 ? "url(#g)" : "#" 100 + random(900), 2 + random(7), i % 50 ? "" : " filter=\"url(#f)\""
		for (i = 0; i < 20; i++)
			printf "<text x=\"%d\" y=\"%d\" transform=\"rotate(%d)\" font-family=\"serif\">text %d</text>\n", random(300), random(300), random(60), i
		print "</svg>"
	}' >"$dir/pictures/$picture.svg"
done
