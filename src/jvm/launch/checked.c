/*
 * checked.c - SIGBUS under -Xcheck:jni. There the virtual machine complains of a handler that is not its own, so the agent cannot take the
 * signal. But it calls what it has found when it started, for faults that it does not know:
 *
 *      before JNI_CreateJavaVM     on_bus is the action
 *      its start                   the virtual machine keeps on_bus, and installs its own
 *      a fault in the recording    its own -> on_bus -> wm1_java_faults.repair, the agent's
 *      any other one               its own -> on_bus -> the default action
 */
#include "jvm/launch/checked.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/text.h"
#include "waymark/jvm.h"

struct wm1_java_faults wm1_java_faults __attribute__((visibility("default")));

static void say(uintptr_t address)
{
	char line[128];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, (uint64_t)syscall(SYS_getpid), 10, 1);
	wmrt_text_add(&text, ": SIGBUS at 0x");
	wmrt_text_number(&text, address, 16, 1);
	wmrt_text_add(&text, " outside of the recording ends the virtual machine without its report\n");
	(void)syscall(SYS_write, STDERR_FILENO, line, text.len);
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	bool (*repair)(uintptr_t) = __atomic_load_n(&wm1_java_faults.repair, __ATOMIC_ACQUIRE);

	(void)context;
	if (info->si_code == BUS_ADRERR && repair && repair((uintptr_t)info->si_addr))
		return;
	say((uintptr_t)info->si_addr);
	/* A fault comes again. */
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info);
}

void checked_begin(void)
{
	struct sigaction was, action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (wm1_java_faults.is_chained || sigaction(SIGBUS, NULL, &was) != 0 || was.sa_handler != SIG_DFL)
		return;
	wm1_java_faults.is_chained = sigaction(SIGBUS, &action, NULL) == 0;
}
