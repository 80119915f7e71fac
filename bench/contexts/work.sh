#!/bin/bash
# What figures.sh has redis, nginx and git do; run by `waymark run`, so that all processes of the work are recorded.
#
#   bench/contexts/work.sh redis|nginx|git FILE SCRATCH full|small
#
# FILE is the program, SCRATCH a folder that is made anew.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$1 file=$2 scratch=$3 rounds=10
[ "$4" = full ] || rounds=1
rm -rf "$scratch"
mkdir "$scratch"
cd "$scratch"

# A server on a unix socket; the commands of work-redis.py, and rewriting and saving in children of the server.
work_redis() {
	"$file" --port 0 --unixsocket socket --save '' --appendonly yes --dir "$scratch" &
	python3 "$here/work-redis.py" socket $((rounds * 100))
	wait
}

# A master and a worker; files, listings, compressed pages, rewritten names, errors, and itself as the server behind a proxy.
work_nginx() {
	local number
	mkdir logs html html/list
	for number in $(seq 100); do
		seq $((number * 100)) >"html/$number.html"
		ln "html/$number.html" "html/list/$number"
	done
	cat >nginx.conf <<-'END'
		daemon off; user root; worker_processes 1; pid pid; error_log logs/error.log;
		events { worker_connections 64; }
		http {
			access_log logs/access.log; default_type text/html;
			gzip on; gzip_min_length 1000;
			server {
				listen unix:socket; root html; server_name localhost;
				location /list/ { autoindex on; }
				location /old/ { rewrite ^/old/(.*)$ /$1.html last; }
				location /moved/ { return 301 /list/; }
				location /behind/ { proxy_pass http://unix:socket:/; add_header X-Time $request_time; }
			}
		}
	END
	sed -i "s,unix:socket,unix:$scratch/socket,; s,root html,root $scratch/html," nginx.conf
	"$file" -p "$scratch" -c nginx.conf &
	while [ ! -S socket ] || [ ! -s pid ]; do
		kill -0 $! || exit
		sleep 0.1
	done
	for number in $(seq "$rounds"); do
		curl -s --unix-socket socket \
			http://localhost/{'[1-100].html',list/,'old/[1-20]','behind/[1-20].html',behind/list/,moved/,'none/[1-5]'}
		curl -s --compressed --unix-socket socket 'http://localhost/[1-50].html' 'http://localhost/behind/[1-20].html'
		curl -s --unix-socket socket -r 100-200,300-400 'http://localhost/[1-20].html'
		curl -s --unix-socket socket -d a=b 'http://localhost/[1-20].html'
	done
	kill -QUIT "$(cat pid)"
	wait
}

# A repository of some files with branches and merges; what reads it and what packs it.
work_git() {
	local number name
	export HOME=$scratch GIT_CONFIG_NOSYSTEM=1 GIT_EXEC_PATH=${file%/*} GIT_PAGER=cat GIT_EDITOR=true TZ=UTC \
		GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
	git() { "$file" -c user.name=bench -c user.email=bench@localhost -c init.defaultBranch=main -c gc.auto=0 "$@"; }
	git init -q --template= .
	for name in a b c d e f; do
		mkdir -p $name
		for number in $(seq 10); do seq "$number" 400 >"$name/$number"; done
	done
	git add .
	git commit -q -m 'All files'
	for number in $(seq $((rounds * 20))); do
		git checkout -q -b "side$number"
		sed -i "s/^$((number % 380 + 20))\$/side $number/" a/* b/1
		git commit -q -a -m "Side $number"
		git checkout -q main
		sed -i "s/^$((number % 380 + 10))\$/main $number/" c/*
		git mv "d/$((number % 10 + 1))" "d/moved$((number % 10 + 1))"
		git mv "d/moved$((number % 10 + 1))" "d/$((number % 10 + 1))"
		git commit -q -a -m "Main $number"
		git merge -q -m "Merge $number" "side$number"
	done
	git status
	git log --graph --stat --all
	git log -p -M -C
	git blame c/5
	git grep -n side
	git diff HEAD~5 HEAD
	git shortlog -s HEAD
	git archive HEAD
	git gc -q
	git fsck --full
	git log --oneline -- b/1
	git clone -q . copy
	git rev-list --objects --all
}

"work_$program"
