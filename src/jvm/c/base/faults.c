/*
 * faults.c - takes SIGBUS, whose handler is the virtual machine's by now: it gets all faults but those in the recording, as before.
 *
 * Under -Xcheck:jni the virtual machine complains of a handler that is not its own. There SIGBUS is left alone, and a recording that
 * another process truncates ends the virtual machine. The option is looked for where it can stand, but not in files of arguments.
 */
#include "jvm/c/base/faults.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "recorder/bus.h"
#include "recorder/sys.h"

enum {
	WORDS_BYTES = 65536,
};

static const char option[] = "-Xcheck:jni";

static bool is_in_command(void)
{
	static char words[WORDS_BYTES];
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long len;

	if (fd < 0)
		return false;
	len = wmrt_sys3(SYS_read, fd, (long)words, sizeof words);
	wmrt_sys3(SYS_close, fd, 0, 0);
	return len > 0 && memmem(words, (size_t)len, option, sizeof option - 1);
}

static bool is_in(const char *variable)
{
	const char *value = getenv(variable);

	return value && strstr(value, option);
}

static void start(void)
{
	if (!is_in("JAVA_TOOL_OPTIONS") && !is_in("JDK_JAVA_OPTIONS") && !is_in("_JAVA_OPTIONS") && !is_in_command())
		bus_start();
}

const struct wmrt_client jvm_faults = {.start = start};
