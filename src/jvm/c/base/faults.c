/*
 * faults.c - takes SIGBUS, whose handler is the virtual machine's by now: it gets all faults but those in the recording, as before.
 *
 * Under -Xcheck:jni the virtual machine complains of a handler that is not its own. There it hands faults on that it does not know, to what
 * libwaymark-java.so has put there before it started (launch/checked.c). Where `waymark run` has not started it, SIGBUS is left alone, and a
 * recording that another process truncates ends the virtual machine. The option is looked for where it can stand, but not in files of
 * arguments.
 */
#include "jvm/c/base/faults.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "recorder/bus.h"
#include "recorder/mapping.h"
#include "recorder/sys.h"
#include "waymark/jvm.h"

enum {
	WORDS_BYTES = 65536,
};

static const char *const checks[] = {"-Xcheck:jni", "-XX:+CheckJNICalls"};

extern struct wm1_java_faults wm1_java_faults __attribute__((weak));

/* A text that a NUL ends, or many one after another. */
static bool has_check(const char *text, size_t len_bytes)
{
	return memmem(text, len_bytes, checks[0], strlen(checks[0])) ||
	       memmem(text, len_bytes, checks[1], strlen(checks[1]));
}

static bool is_in_command(void)
{
	static char words[WORDS_BYTES];
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long len;

	if (fd < 0)
		return false;
	len = wmrt_sys3(SYS_read, fd, (long)words, sizeof words);
	wmrt_sys3(SYS_close, fd, 0, 0);
	return len > 0 && has_check(words, (size_t)len);
}

static bool is_in(const char *variable)
{
	const char *value = getenv(variable);

	return value && has_check(value, strlen(value));
}

static void start(void)
{
	if (&wm1_java_faults && wm1_java_faults.is_chained) {
		wmrt_bus_share();
		__atomic_store_n(&wm1_java_faults.repair, wmrt_mapping_repair, __ATOMIC_RELEASE);
		return;
	}
	if (!is_in("JAVA_TOOL_OPTIONS") && !is_in("JDK_JAVA_OPTIONS") && !is_in("_JAVA_OPTIONS") && !is_in_command())
		wmrt_bus_start();
}

const struct wmrt_client jvm_faults = {.start = start};
