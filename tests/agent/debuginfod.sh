#!/bin/bash
# debuginfod.sh BUILD - a stripped program is recorded under the agent; its debug file is at a server that speaks debuginfod's paths. The
# report has names and lines of static functions where DEBUGINFOD_URLS names the server, else places in the file; so it has where the server
# has a file of another build.
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
unset DEBUGINFOD_URLS http_proxy HTTP_PROXY all_proxy ALL_PROXY
export DEBUGINFOD_CACHE_PATH=$dir/cache
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
needs gcc objcopy readelf strip python3
python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null || { echo "libdebuginfod is missing"; exit 77; }

cat >program.c <<'END2'
#include <stdlib.h>
#define NOINLINE __attribute__((noinline, noclone))
void *volatile last;
static NOINLINE void takes(void)
{
	last = malloc(NUMBER); /* 6 */
	last = NULL;
}
static NOINLINE void calls(int n)
{
	if (n)
		calls(n - 1); /* 12 */
	else
		takes(); /* 14 */
	last = NULL;
}
int main(void)
{
	calls(1); /* 19 */
	return 0;
}
END2

# build_id FILE
build_id() {
	readelf -nW "$1" | awk '/Build ID:/ { print $NF }'
}

# serves FILE: the server has it as the debug file of ./program
serves() {
	rm -rf cache
	mkdir -p "www/buildid/$(build_id program)"
	cp "$1" "www/buildid/$(build_id program)/debuginfo"
}

# A free port; each request is a line of requests.txt.
cat >server.py <<'END2'
import functools, http.server
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, form, *arguments):
        print(self.path, flush=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory="www"))
with open("port.new", "w") as port:
    print(server.server_address[1], file=port)
import os
os.rename("port.new", "port")
server.serve_forever()
END2

serve() {
	local i
	mkdir -p www
	python3 server.py >requests.txt 2>&1 &
	server=$!
	for ((i = 0; i < 3000; i++)); do
		[ -s port ] && return 0
		sleep 0.01
	done
	echo "the server does not begin"
	exit 1
}

# frames WANTED: of the one context of the program's own malloc, outermost first
frames() {
	"$waymark" report --format=json --metric=allocations run.wmk >report.json 2>said.txt || fail "report: $(cat said.txt)"
	python3 -c '
import json
r = json.load(open("report.json"))
for c in r["contexts"]:
    frames = [r["frames"][i] for i in c["frames"]]
    print(" ".join(f["name"] + ("@" + f["file"].split("/")[-1] + ":" + str(f["line"]) if f["file"] else "") for f in frames))' |
		grep '^main\|^program+' >got.txt
	grep -qxE "$1" got.txt || fail "frames: $(cat got.txt), not $1"
}

for number in 1 2; do
	gcc -O1 -g -DNUMBER=$number -Wl,--build-id -o program program.c || exit 1
	objcopy --only-keep-debug program debug.$number || exit 1
done
strip program
"$waymark" run -q --heap --encode -o "$dir/run.wmk" ./program || exit 1

places='program\+0x[0-9a-f]+ program\+0x[0-9a-f]+ program\+0x[0-9a-f]+ program\+0x[0-9a-f]+ \[malloc\]'
names='main@program.c:19 calls@program.c:12 calls@program.c:14 takes@program.c:6 \[malloc\]'
serve
frames "$places"
[ -s requests.txt ] && fail "a server is asked that nobody has named"
DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)/"
export DEBUGINFOD_URLS
frames "$places" # it does not have it
serves debug.2
frames "$names"
grep -q "^/buildid/$(build_id program)/debuginfo" requests.txt || fail "the server was not asked: $(cat requests.txt)"
serves debug.1
frames "$places"
serves debug.2
frames "$names"
kill "$server" && wait "$server" 2>/dev/null
server=
frames "$names" # it is in the cache
rm -rf cache
frames "$places"
finish
