#!/bin/sh
# redis.sh - records every allocation of a redis server while a list and many strings grow: early.wmk and late.wmk are
# copies of the recording half-way and before the server ends, redis.wmk the whole. For docs/questions.md.
set -eu
waymark run -q --heap -o redis.wmk redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' >redis.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
ask() {
	redis-cli -s redis.sock "$@"
}
until ask ping >/dev/null 2>&1; do
	kill -0 "$server"
done
seq 2000 | sed 's/.*/set string:& &/' | ask >/dev/null
cp redis.wmk early.wmk
seq 4000 | sed 's/.*/rpush list &/' | ask >/dev/null
cp redis.wmk late.wmk
ask shutdown nosave
wait "$server"
trap - EXIT
