/*
 * calls.c FLAG PLUGIN - threads in system calls that signal(7) lists as never made again after a signal, while the agent comes, stops the
 * threads for code that it has not met, and leaves. None of them returns EINTR, or before its time. Says "ready", goes on until the file
 * FLAG is there, and prints what was wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	LIMIT_MS = 250,
	SLACK_MS = 2, /* of the kernel's clocks */
};

static atomic_bool is_over;
static int epoll, nothing[2], queue, semaphores, sockets[2], listener;

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- each returns when its time is over ---- */

static const struct timespec limit = {0, LIMIT_MS * 1000000};

static int sleeps(void)
{
	return nanosleep(&limit, NULL);
}

static int sleeps_on_clock(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL);
	return errno;
}

static int sleeps_shortly(void)
{
	return usleep(LIMIT_MS * 1000);
}

static int polls(void)
{
	struct pollfd fd = {.fd = nothing[0], .events = POLLIN};

	return poll(&fd, 1, LIMIT_MS);
}

static int waits_for_events(void)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, LIMIT_MS);
}

static int waits_for_events_exactly(void)
{
	struct epoll_event event;

	return epoll_pwait2(epoll, &event, 1, &limit, NULL);
}

static int waits_for_signal(void)
{
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, &info, &limit) == -1 && errno == EAGAIN ? 0 : -1;
}

static int waits_for_semaphore(void)
{
	struct sembuf take = {0, -1, 0};

	return semtimedop(semaphores, &take, 1, &limit) == -1 && errno == EAGAIN ? 0 : -1;
}

static int receives(void)
{
	char byte;

	return recv(sockets[0], &byte, 1, 0) == -1 && errno == EAGAIN ? 0 : -1;
}

static int receives_message(void)
{
	struct iovec vector = {&(char){0}, 1};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};

	return recvmsg(sockets[1], &message, 0) == -1 && errno == EAGAIN ? 0 : -1;
}

static int accepts(void)
{
	return accept(listener, NULL, NULL) == -1 && errno == EAGAIN ? 0 : -1;
}

/* ---- each returns when the main thread says so ---- */

static int receives_from_queue(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(queue, &message, sizeof message.text, 1, 0) < 0;
}

static int takes_semaphore(void)
{
	struct sembuf take = {1, -1, 0};

	return semop(semaphores, &take, 1);
}

static const struct call {
	const char *name;
	int (*make)(void);
	bool has_limit;
} calls[] = {
	{"nanosleep", sleeps, true},
	{"clock_nanosleep", sleeps_on_clock, true},
	{"usleep", sleeps_shortly, true},
	{"poll", polls, true},
	{"epoll_wait", waits_for_events, true},
	{"epoll_pwait2", waits_for_events_exactly, true},
	{"sigtimedwait", waits_for_signal, true},
	{"semtimedop", waits_for_semaphore, true},
	{"recv", receives, true},
	{"recvmsg", receives_message, true},
	{"accept", accepts, true},
	{"msgrcv", receives_from_queue, false},
	{"semop", takes_semaphore, false},
};

enum {
	CALLS = sizeof calls / sizeof *calls,
};

static atomic_int begun;

static void *make_calls(void *argument)
{
	const struct call *call = argument;
	long failures = 0;

	begun++;
	do {
		long start = now_ms();
		int result;

		errno = 0;
		result = call->make();
		if (result != 0)
			printf("%s: %d, %s\n", call->name, result, strerror(errno));
		if (call->has_limit && now_ms() - start < LIMIT_MS - SLACK_MS)
			printf("%s: too early\n", call->name);
		failures += result != 0;
	} while (call->has_limit && !is_over && !failures);
	return NULL;
}

/* ---- */

static bool begin(void)
{
	struct timeval time = {0, LIMIT_MS * 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	epoll = epoll_create1(0);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 2, 0600);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (pipe(nothing) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || queue < 0 || semaphores < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof address.sun_family) != 0 || listen(listener, 1) != 0)
		return false;
	for (int i = 0; i < 2; i++)
		setsockopt(sockets[i], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
	return epoll_ctl(epoll, EPOLL_CTL_ADD, nothing[0], &event) == 0;
}

static void end(void)
{
	struct {
		long type;
		char text[8];
	} message = {1, "end"};
	struct sembuf give = {1, 1, 0};

	is_over = true;
	msgsnd(queue, &message, sizeof message.text, 0);
	semop(semaphores, &give, 1);
}

int main(int argc, char **argv)
{
	pthread_t threads[CALLS];

	if (argc != 3 || !begin())
		return 1;
	for (size_t i = 0; i < CALLS; i++)
		pthread_create(&threads[i], NULL, make_calls, (void *)&calls[i]);
	while (begun < CALLS)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK) != 0) {
		void *library = dlopen(argv[2], RTLD_NOW);
		void (*run)(void) = library ? (void (*)(void))dlsym(library, "plugin_run") : NULL;

		if (!run)
			return 1;
		run();
		dlclose(library);
		usleep(5000);
	}
	end();
	for (size_t i = 0; i < CALLS; i++)
		pthread_join(threads[i], NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	puts("end");
	return 0;
}
