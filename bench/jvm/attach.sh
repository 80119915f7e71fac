#!/bin/bash
# A server under load that is attached to: Debian's Tomcat 10 answers requests (of ab) for a JSP page, without Waymark and while `waymark attach`
# comes and goes, in turn. Then --live says what it keeps. These are the commands of docs/jvm.md.
#
#   bench/jvm/attach.sh [-b BUILD-DIR] [-j JDK] [-n TURNS] [-r REQUESTS] [-w DIR]
#
# Prints for both: requests a second, and milliseconds of a request (median, 99 of 100, longest), medians over TURNS (5) of REQUESTS (2000);
# then stops of the virtual machine (safepoints) by their reason; then the calls that have allocated most of what is kept. Exit status 1: a
# request fails, or --live does not name the sessions. The page makes a session for each client that sends no cookie, as JSP pages do that
# do not say session="false"; ab sends none, so the server keeps all of them for half an hour.
# Needs: scripts/install-deps.sh bench-jvm
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
jdk=$(dirname "$(dirname "$(realpath "$(command -v javac)")")")
turns=5 requests=2000 dir=''
while getopts b:j:n:r:w: name; do
	case $name in
	b) build=$OPTARG ;;
	j) jdk=$OPTARG ;;
	n) turns=$OPTARG ;;
	r) requests=$OPTARG ;;
	w) dir=$OPTARG ;;
	*) sed -n '5p' "$0" >&2; exit 2 ;;
	esac
done
for command in tomcat10-instance-create ab; do
	command -v $command >/dev/null || { echo "$command is missing" >&2; exit 2; }
done
waymark=$(cd "$build" && pwd)/waymark
if [ -z "$dir" ]; then
	dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-attach.XXXXXX")
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir"
cd "$dir"
dir=$PWD
unset WAYMARK_OUT WAYMARK_LIMIT WAYMARK_JVM LD_PRELOAD JAVA_TOOL_OPTIONS
ends() {
	kill "$server" 2>/dev/null && wait "$server" || true
}

# ---- the server ----

port=$((20000 + $$ % 20000))
rm -rf tomcat results && mkdir results
tomcat10-instance-create -p $port -c $((port + 1)) tomcat >create.txt
mkdir tomcat/webapps/ROOT
cat >tomcat/webapps/ROOT/page.jsp <<'J'
<%@ page contentType="text/html; charset=UTF-8" import="java.util.*" %>
<% List<String> rows = new ArrayList<>(); for (int i = 0; i < 200; i++) rows.add("row " + i * 7919 % 200); Collections.sort(rows); %>
<html><body><% for (String row : rows) { %><li><%= row %></li><% } %></body></html>
J
JAVA_HOME=$jdk CATALINA_BASE=$dir/tomcat CATALINA_OPTS="-Xmx512m -Xlog:safepoint:file=$dir/safepoints.log:uptime" \
	/usr/share/tomcat10/bin/catalina.sh run >server.txt 2>&1 &
server=$! # the script becomes the virtual machine
trap 'ends; [ "${dir#*/waymark-attach.}" = "$dir" ] || rm -rf "$dir"' EXIT
page=http://127.0.0.1:$port/page.jsp
# ab asks when the port is open; the first answer takes as long as the page's compilation.
until ab -q -n 1 "$page" >first.txt 2>&1; do
	kill -0 $server || { tail server.txt >&2; exit 1; }
	sleep 0.2
done

# load NAME: what ab says in NAME.txt, milliseconds of each request in NAME.tsv
load() {
	ab -q -n "$requests" -c 3 -g "$1.tsv" "$page" >"$1.txt" 2>&1
	grep -q '^Failed requests: *0$' "$1.txt" && ! grep -q '^Non-2xx' "$1.txt" || { cat "$1.txt" >&2; exit 1; }
}

# visits NUMBER: attaches and detaches until the load ends
visits() {
	local n=0
	while [ -e under-load ]; do
		n=$((n + 1))
		timeout 30 "$waymark" attach -q --sample --alloc --contention -o "$dir/visit.wmk" $server || return 1
		sleep 0.5
		timeout 30 "$waymark" attach -q --detach $server || return 1
	done
	echo $n >>results/visits
}

uptime_of_server() { awk -F '[][s]' 'END { print $2 }' safepoints.log; }

load warm
for ((n = 0; n < turns; n++)); do
	cat /proc/loadavg >>results/load
	before=$(uptime_of_server)
	load "results/plain.$n"
	between=$(uptime_of_server)
	touch under-load
	visits &
	visitor=$!
	load "results/attached.$n"
	rm under-load
	wait $visitor || { echo "attach failed" >&2; exit 1; }
	echo "$before $between $(uptime_of_server)" >>results/times
done

# ---- what it says ----

middle() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# part FILE SHARE: milliseconds of a request; ttime is the fifth column
part() { awk -F '\t' 'NR > 1 { print $5 }' "$1" | sort -g | awk -v share="$2" '{ v[NR] = $1 } END { i = int(NR * share); print v[i < 1 ? 1 : i] }'; }
echo "| | requests a second | median, ms | 99 of 100, ms | longest, ms |"
echo "|---|---|---|---|---|"
for kind in plain attached; do
	printf '| %s | %.0f |' $kind "$(sed -n 's/^Requests per second: *\([0-9.]*\).*/\1/p' results/$kind.*.txt | middle)"
	for share in 0.5 0.99 1; do
		printf ' %s |' "$(for file in results/$kind.*.tsv; do part "$file" $share; done | middle)"
	done
	echo
done
echo
echo "$(awk '{ n += $1 } END { print n }' results/visits) visits in $turns turns of $requests requests; load $(awk '{ print $1 }' results/load |
	sort -g | sed -n '1p;$p' | paste -sd ' ' | sed 's/ / to /')"
echo
echo "| stops of the virtual machine | plain | attached | longest, attached, ms |"
echo "|---|---|---|---|"
awk 'NR == FNR { before[NR] = $1; between[NR] = $2; after[NR] = $3; n = NR; next }
	match($0, /Safepoint "[^"]*"/) {
		reason = substr($0, RSTART + 11, RLENGTH - 12); at = substr($1, 2) + 0
		match($0, /Total: *[0-9]+/); took = substr($0, RSTART + 6, RLENGTH - 6) / 1e6
		for (i = 1; i <= n; i++)
			if (at > before[i] && at <= between[i]) plain[reason]++
			else if (at > between[i] && at <= after[i]) { attached[reason]++; if (took > longest[reason]) longest[reason] = took }
		seen[reason]
	}
	END { for (reason in seen) if (plain[reason] + attached[reason]) printf "| %s | %d | %d | %.2f |\n", reason, plain[reason], attached[reason], longest[reason] }' \
	results/times safepoints.log | sort

# ---- the leak ----

echo
echo "\$ waymark attach --live=65536 -o live.wmk $server"
timeout 30 "$waymark" attach --live=65536 -o "$dir/live.wmk" $server >attach.txt
load live
timeout 60 "$waymark" attach --detach $server >>attach.txt
"$waymark" report --metric retained:sum --top=1 live.wmk | tee live.txt
grep -q 'createSession' live.txt
