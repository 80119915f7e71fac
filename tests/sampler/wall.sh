#!/bin/bash
# wall.sh BUILD - `waymark run --wall --off-cpu`, and `waymark attach` with them: the shares of a thread's time are those that the program measures
# by its own clock; calls that a look may interrupt return what they return alone, in their time; descriptors have the numbers that they have alone.
set -u
waymark=$1/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-sampler.XXXXXX")
started=
# shellcheck disable=SC2086
trap '[ -z "$started" ] || kill -9 $started 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
command -v gcc >/dev/null || { echo "gcc is missing"; exit 77; }
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# folded METRIC: stacks of all recordings in out, with their values.
folded() {
	"$waymark" report --format=folded --metric="$1" out/*.wmk || fail "report of $1: $(ls out)"
}

# close_to METRIC FACTOR: each place of alone.txt has the part of the time of all that the program says, within a third of it or 12 % of all: time in which a
# thread is ready to run and waits for a busy processor counts for where it is next. FACTOR: 1: the time of all is the program's, too, within a third.
close_to() {
	folded "$1" | awk -v both="$2" -v metric="$1" '
		FNR == NR { own[$1] = $2; all += $2; next }
		{ for (place in own) if (index(";" $0, ";" place ";") || index(";" $0, ";" place " ")) { found[place] += $NF / 1e6; sum += $NF / 1e6 } }
		END {
			for (place in own) {
				part = own[place] / all; is = sum ? found[place] / sum : 0; far = is > part ? is - part : part - is
				if (far > part / 3 && far > 0.12) { printf "%s: %s has %.3f of the time, by its clock %.3f\n", metric, place, is, part; bad = 1 }
			}
			if (both && (sum < 0.67 * all || sum > 1.33 * all)) { printf "%s: %.0f ms of %.0f\n", metric, sum, all; bad = 1 }
			exit bad
		}' times.txt - || fail "shares: $(folded "$1")"
}

cat >program.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile long sink;
static int to_main[2], to_feeder[2];
static sem_t given;
static long time_of(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}
static long now(void) { return time_of(CLOCK_MONOTONIC); }
#define PLACE(name) static __attribute__((noinline)) void name(long ms)
PLACE(in_sleep) { struct timespec ts = {ms / 1000, ms % 1000 * 1000000}; nanosleep(&ts, NULL); sink++; }
PLACE(in_poll) { poll(NULL, 0, ms); sink++; }
/* The feeder answers after that time. */
PLACE(in_read) { char c; write(to_feeder[1], &ms, sizeof ms); read(to_main[0], &c, 1); sink++; }
PLACE(in_lock) { ms = -ms; write(to_feeder[1], &ms, sizeof ms); sem_wait(&given); sink++; }
/* So much CPU time, however long that takes. */
PLACE(in_cpu)
{
	for (long end = time_of(CLOCK_THREAD_CPUTIME_ID) + ms * 1000; time_of(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (int i = 0; i < 20000; i++)
			sink++;
}
static void *feeder(void *data)
{
	long ms;
	while (read(to_feeder[0], &ms, sizeof ms) == sizeof ms) {
		usleep(labs(ms) * 1000);
		if (ms > 0)
			write(to_main[1], "x", 1);
		else
			sem_post(&given);
	}
	return data;
}
static void *idle(void *data) { pause(); return data; }
int main(int argc, char **argv)
{
	static const struct { const char *name; void (*fn)(long); long ms; } places[] = {
		{"in_sleep", in_sleep, 120}, {"in_poll", in_poll, 60}, {"in_read", in_read, 90}, {"in_lock", in_lock, 150},
		{"in_cpu", in_cpu, 60}};
	long us[5] = {0}, begun = now(), rounds = atoi(argv[1]);
	pthread_t threads[2];
	char c;
	pipe(to_main);
	pipe(to_feeder);
	sem_init(&given, 0, 0);
	pthread_create(&threads[0], NULL, feeder, NULL);
	pthread_create(&threads[1], NULL, idle, NULL);
	if (argc > 2) {
		write(2, "ready\n", 6);
		read(0, &c, 1);
	}
	for (int i = 0; i < rounds; i++)
		for (int place = 0; place < 5; place++) {
			long from = now();
			places[place].fn(places[place].ms);
			us[place] += now() - from;
		}
	for (int place = 0; place < 5; place++)
		printf("%s %.1f\n", places[place].name, us[place] / 1e3);
	printf("idle %.1f\n", (now() - begun) / 1e3);
	fflush(stdout);
	return 3;
}
END
gcc -w -O1 -g -o program program.c -lpthread || exit 1

# A thread that waits for all of the run is in it, too. A clock for CPU time beside it changes nothing.
for options in "" --sample; do
	rm -rf out && mkdir out
	# shellcheck disable=SC2086
	timeout -k 5 100 "$waymark" run -q --wall --off-cpu $options -o out/ ./program 4 >all.txt 2>err.txt
	[ $? -eq 3 ] && [ ! -s err.txt ] || fail "status, or: $(cat err.txt)"
	grep -v '^idle' all.txt >times.txt
	close_to wall 1
	grep -v 'in_cpu' times.txt >waits.txt && mv waits.txt times.txt
	close_to off-cpu 0
	folded off-cpu | grep -q '^main.*in_cpu' && fail "work is no wait"
	grep '^idle' all.txt >times.txt
	close_to off-cpu 1
done
folded cpu | grep -q '^main;in_cpu' || fail "no CPU time: $(folded cpu)"

# attached FILE PROGRAM [ARGUMENT...]: the program, attached to when it is ready; FILE gets what it prints.
mkfifo go ready
attached() {
	local file=$1 status=0
	shift
	"$@" >"$file" <go 2>ready &
	started=$!
	exec 8>go
	read -r _ <ready
	"$waymark" attach -q $rates -o out/ $started || fail "attach to $1"
	echo >&8
	exec 8>&-
	wait $started || status=$?
	started=
	return $status
}

# The same in a process that runs, by attach.
rm -rf out && mkdir out
rates='--wall --off-cpu'
attached all.txt ./program 4 wait
[ $? -eq 3 ] || fail "status after attach"
grep -v idle all.txt >times.txt
close_to wall 1
folded off-cpu | grep -q '^\[thread\];idle;pause ' || fail "the idle thread: $(folded off-cpu)"

# Calls that signals interrupt: what they return, and how long they take, at most.
cat >calls.c <<'END'
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000;
}
enum { LIMIT = 120 };
static const struct timespec limit = {0, LIMIT * 1000000L};
static const struct timeval limit_tv = {0, LIMIT * 1000};
static int sockets[2], pipes[2];
static void *drain(void *data)
{
	static char buffer[1 << 16];
	usleep(LIMIT * 1000);
	while (read(*(int *)data, buffer, sizeof buffer) > 0)
		usleep(1000);
	return NULL;
}
static struct timespec from_now(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	ts.tv_nsec += limit.tv_nsec;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}
/* Not sooner than its limit, and without an error of its own; how much later depends on the machine. */
static void tell(const char *name, long rc, int error, long from)
{
	printf("%s: %ld %s, %s\n", name, rc, rc < 0 ? strerror(error) : "", now() - from >= LIMIT - 1 ? "in its time" : "too soon");
	fflush(stdout);
}
/* The other process may be earlier. */
#define ANSWERED(name, call)                             \
	do {                                             \
		long rc;                                 \
		errno = 0;                               \
		rc = (call);                             \
		tell(name, rc, errno, now() - LIMIT);    \
	} while (0)
#define CALL(name, call)                     \
	do {                                 \
		long from = now(), rc;       \
		errno = 0;                   \
		rc = (call);                 \
		tell(name, rc, errno, from); \
	} while (0)
int main(int argc, char **argv)
{
	static char big[1 << 20];
	struct timespec absolute;
	struct timeval left = limit_tv;
	struct epoll_event event;
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof address;
	struct { long type; char text[8]; } message;
	struct sembuf take = {0, -1, 0};
	int epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0);
	int queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600), status, fd;
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	pthread_t thread;
	sigset_t signals;
	sem_t sem;
	pid_t pid;
	socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	pipe(pipes);
	sem_init(&sem, 0, 0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (argc > 1) {
		write(2, "ready\n", 6);
		read(0, big, 1);
	}
	CALL("nanosleep", nanosleep(&limit, NULL));
	CALL("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL));
	absolute = from_now(CLOCK_MONOTONIC);
	CALL("clock_nanosleep absolute", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &absolute, NULL));
	CALL("usleep", usleep(LIMIT * 1000));
	CALL("poll", poll(NULL, 0, LIMIT));
	CALL("ppoll", ppoll(NULL, 0, &limit, NULL));
	CALL("select", select(0, NULL, NULL, NULL, &left));
	CALL("pselect", pselect(0, NULL, NULL, NULL, &limit, NULL));
	CALL("epoll_wait", epoll_wait(epoll, &event, 1, LIMIT));
	CALL("sigtimedwait", sigtimedwait(&signals, NULL, &limit));
	CALL("semtimedop", semtimedop(set, &take, 1, &limit));
	absolute = from_now(CLOCK_REALTIME);
	CALL("sem_timedwait", sem_timedwait(&sem, &absolute));
	pthread_mutex_lock(&mutex);
	absolute = from_now(CLOCK_REALTIME);
	CALL("pthread_cond_timedwait", pthread_cond_timedwait(&cond, &mutex, &absolute));
	CALL("syscall futex", syscall(SYS_futex, &status, 0, status, &limit, NULL, 0));
	CALL("syscall poll", syscall(SYS_poll, NULL, 0, LIMIT));
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit_tv, sizeof limit_tv);
	CALL("recv with a limit", recv(sockets[0], big, 1, 0));
	CALL("read with a limit", read(sockets[0], big, 1));
	bind(listener, (struct sockaddr *)&address, sizeof address);
	listen(listener, 1);
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit_tv, sizeof limit_tv);
	CALL("accept with a limit", accept(listener, NULL, NULL));
	/* What has been written so far is no result. */
	pthread_create(&thread, NULL, drain, &pipes[0]);
	ANSWERED("write of much", write(pipes[1], big, sizeof big));
	close(pipes[1]);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, drain, &sockets[1]);
	ANSWERED("send of much", send(sockets[0], big, sizeof big, 0));
	shutdown(sockets[0], SHUT_RDWR);
	pthread_join(thread, NULL);
	pipe(pipes);
	pid = fork();
	if (pid == 0) {
		usleep(LIMIT * 1000);
		message.type = 1;
		strcpy(message.text, "hello");
		msgsnd(queue, &message, sizeof message.text, 0);
		usleep(LIMIT * 1000);
		semop(set, &(struct sembuf){0, 1, 0}, 1);
		usleep(LIMIT * 1000);
		write(pipes[1], "hello", 5);
		usleep(LIMIT * 1000);
		kill(getppid(), SIGUSR1);
		usleep(LIMIT * 1000);
		_exit(6);
	}
	ANSWERED("msgrcv", msgrcv(queue, &message, sizeof message.text, 0, 0));
	ANSWERED("semop", semop(set, &take, 1));
	ANSWERED("read of a pipe", read(pipes[0], big, 10));
	ANSWERED("sigwaitinfo", sigwaitinfo(&signals, NULL));
	ANSWERED("waitpid", waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	/* The lowest number that is free is the program's. */
	close(0);
	for (int i = status = 0; i < 20000; i++) {
		fd = open("/dev/null", O_RDONLY);
		status += fd != 0;
		close(fd);
	}
	printf("%d other numbers\n", status);
	return 9;
}
END
gcc -w -O1 -D_GNU_SOURCE -o calls calls.c -lpthread || exit 1
./calls >alone.txt 2>&1
alone=$?
for how in run attach; do
	rm -rf out && mkdir out
	if [ $how = run ]; then
		timeout -k 5 100 "$waymark" run -q --wall=300 --off-cpu -o out/ ./calls >looked.txt 2>&1
		status=$?
	else
		rates='--wall=300 --off-cpu'
		attached looked.txt ./calls wait
		status=$?
	fi
	[ $status -eq $alone ] || fail "calls, $how: status $status, alone $alone"
	sed 's/ $//' looked.txt | diff alone.txt - || fail "calls, $how"
	folded wall | grep -q 'clock_nanosleep' || fail "calls, $how: $(folded wall)"
done
sed -n 's/.*: -1 Interrupted.*/FAIL: & alone/p' alone.txt

# What the agent does is refused.
for option in --encode --check --agent --no-agent; do
	! "$waymark" run -q --wall $option ./calls >out.txt 2>err.txt && [ "$(wc -l <err.txt)" -eq 1 ] && grep -q 'wall.*agent' err.txt ||
		fail "$option: $(cat err.txt)"
done
! "$waymark" run --off-cpu=0 ./calls 2>err.txt && grep -q 'from 1 to 1000' err.txt || fail "a rate of 0: $(cat err.txt)"
[ $failures -eq 0 ]
