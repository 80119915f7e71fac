/*
 * untimed_calls.h - system calls that end with EINTR once a signal or a stop has interrupted them, whatever SA_RESTART says (signal(7)), and
 * that have no limit of time in an argument: made again, they wait as before. The agent makes them again after its signals, `waymark attach`
 * after its stops.
 */
#ifndef WAYMARK_UNTIMED_CALLS_H
#define WAYMARK_UNTIMED_CALLS_H

#include <sys/syscall.h>

/* Some are there because of a limit of the socket's (SO_RCVTIMEO) or of the request (io_uring_enter). */
#define WM1_UNTIMED_CALLS(X) \
	X(SYS_semop)         \
	X(SYS_msgrcv)        \
	X(SYS_msgsnd)        \
	X(SYS_read)          \
	X(SYS_readv)         \
	X(SYS_write)         \
	X(SYS_writev)        \
	X(SYS_recvfrom)      \
	X(SYS_recvmsg)       \
	X(SYS_sendto)        \
	X(SYS_sendmsg)       \
	X(SYS_accept)        \
	X(SYS_accept4)       \
	X(SYS_connect)       \
	X(SYS_io_uring_enter)
#define WM1_CASE_OF_CALL(call) case call:

#endif
