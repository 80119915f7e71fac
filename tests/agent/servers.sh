#!/bin/bash
# servers.sh BUILD SOURCES [SERVER...] - `waymark attach` and `--detach` on Debian's servers under load, again and again: every request is
# answered as without it, samples agree with the stack, and after --detach all code is as in the files. A server that is not installed is
# left out.
set -u
sources=$(realpath "$2")
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
shift 2
rounds=4
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
needs gcc
served=0
options=() # more of them

gcc -w -O2 -I "$sources/../../include" -o tool "$sources/attach/tool.c" || exit 1
sleep 100 &
pids=($!)
./tool can $! || { echo "processes cannot be traced here"; exit 77; }
kill -9 $! && wait $! 2>/dev/null
pids=()

installed() {
	local name
	for name; do
		command -v "$name" >/dev/null || return 1
	done
}

# until_so COMMAND...: succeeds, within 10 s
until_so() {
	local i
	for ((i = 0; i < 1000; i++)); do
		"$@" && return 0
		sleep 0.01
	done
	return 1
}

# visit LABEL PID SAMPLES PATTERN: in, so many samples, out; all that were compared agree, and some are of that context
visit() {
	local file=$dir/$1.wmk
	patient timeout 200 "$waymark" attach -q --check --sample=1997 "${options[@]}" -o "$file" "$2" 2>said.txt ||
		{ fail "$1: attach"; cat said.txt; return 1; }
	[ "$3" -eq 0 ] || ./tool samples "$file" "$3" || fail "$1: samples"
	patient timeout 200 "$waymark" attach --detach "$2" 2>said.txt || { fail "$1: detach"; cat said.txt; return 1; }
	./tool text "$2" || fail "$1: code is not as it was"
	[ "$3" -eq 0 ] && return 0
	awk '/agrees? with the stack/ { ok = $3 > 0 && $3 == $5 }
		/context unknown/ { known = $7 + 0 <= $3 * 8 / 100 + 2 } END { exit !(ok && known) }' said.txt ||
		{ fail "$1: samples that do not agree, have no context, or none"; cat said.txt; }
	"$waymark" report --format folded --metric cpu "$file" >folded.txt 2>&1 || fail "$1: report"
	grep -q "^$4" folded.txt || { fail "$1: no $4"; head -20 folded.txt; }
}

# end_load PID LABEL: its last round, and what it counted
end_load() {
	touch "$dir/over"
	wait "$1" || fail "$2: the load: $(tail -3 load.txt)"
	rm "$dir/over"
}

# Threads of its own that wait, and those of its allocator.
load_redis() {
	local n=0
	until [ -f over ]; do
		redis-benchmark -s "$dir/redis" -n 20000 -c 10 -q -t incr,lpush,lpop,mset || return 1
		n=$((n + 1))
	done
	[ "$(redis-cli -s "$dir/redis" get counter:__rand_int__)" = $((n * 20000)) ] || { echo "counted other than $n times"; return 1; }
}

redis() {
	local server load i
	redis-server --port 0 --unixsocket "$dir/redis" --save '' --dir "$dir" >redis.txt 2>&1 &
	server=$!
	pids=("$server")
	until_so redis-cli -s "$dir/redis" ping >/dev/null 2>&1 || { fail "redis-server does not begin"; return; }
	load_redis >load.txt 2>&1 &
	load=$!
	pids+=("$load")
	for ((i = 0; i < rounds; i++)); do
		visit "redis-$i" "$server" 40 'main;aeMain' || break
		options=(--heap) # with an allocator that is a library of its own
	done
	options=()
	end_load "$load" redis
	redis-cli -s "$dir/redis" shutdown nosave
	wait "$server" || fail "redis-server: exit status $?"
	pids=()
	served=$((served + 1))
}

# A worker whose threads read files, and the master, which waits.
load_nginx() {
	until [ -f over ]; do
		ab -q -n 500 -c 8 -k -H "Accept-Encoding: gzip" "http://127.0.0.1:$1/page" >ab.txt 2>&1 || return 1
		cat ab.txt
		grep -q '^Complete requests: *500$' ab.txt && grep -q '^Failed requests: *0$' ab.txt && ! grep -q '^Non-2xx' ab.txt || return 1
	done
}

configure_nginx() {
	mkdir -p root
	seq 20000 >root/page
	cat >nginx.conf <<END
user $(id -un) $(id -gn);
daemon off;
worker_processes 1;
pid $dir/nginx.pid;
error_log $dir/nginx.txt;
thread_pool default threads=3;
events { }
http {
	access_log $dir/access.txt;
	client_body_temp_path $dir; proxy_temp_path $dir; fastcgi_temp_path $dir; uwsgi_temp_path $dir; scgi_temp_path $dir;
	gzip on; gzip_types *; gzip_comp_level 6;
	server { listen 127.0.0.1:$1; location / { root $dir/root; sendfile off; aio threads; } }
}
END
}

nginx_server() {
	local server worker load i port
	for ((i = 0; i < 20; i++)); do
		port=$((20000 + RANDOM % 10000))
		configure_nginx "$port"
		nginx -c "$dir/nginx.conf" -e "$dir/nginx.txt" 2>/dev/null &
		server=$!
		pids=("$server")
		until_so test -s nginx.pid -o ! -d "/proc/$server"
		[ -s nginx.pid ] && break
	done
	until_so pgrep -P "$server" >/dev/null || { fail "nginx does not begin"; tail -3 nginx.txt; return; }
	worker=$(pgrep -P "$server" | head -1)
	pids+=("$worker")
	load_nginx "$port" >load.txt 2>&1 &
	load=$!
	pids+=("$load")
	for ((i = 0; i < rounds; i++)); do
		visit "nginx-$i" "$worker" 40 'main;ngx_' && visit "nginx-master-$i" "$server" 0 '' || break
	done
	end_load "$load" nginx
	kill "$server"
	wait "$server" || fail "nginx: exit status $?"
	pids=()
	served=$((served + 1))
}

[ $# -gt 0 ] || set -- redis nginx
for server; do
	case $server in
	redis) installed redis-server redis-benchmark redis-cli && redis ;;
	nginx) installed nginx ab && nginx_server ;;
	*) fail "$server: no such server" ;;
	esac
done
[ $failures -eq 0 ] || exit 1
[ $served -gt 0 ] || { echo "neither redis-server nor nginx and ab are installed"; exit 77; }
