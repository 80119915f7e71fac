/* filtered.c - the number of filters in /proc/self/status, and that of the run's own environment, which WAYMARK_SECCOMP has. */
#include "native/filtered.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/sys.h"

enum {
	STATUS_BYTES = 8192,
};

bool filtered_is_new(void)
{
	static const char name[] = "\nSeccomp_filters:\t";
	static char text[STATUS_BYTES];
	const char *known = getenv("WAYMARK_SECCOMP"), *found;
	long fd, len;

	if (!known)
		return false;
	fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return false;
	len = wmrt_sys3(SYS_read, fd, (long)text, sizeof text - 1);
	wmrt_sys3(SYS_close, fd, 0, 0);
	found = len > 0 ? strstr(text, name) : NULL;
	return found && strtoul(found + sizeof name - 1, NULL, 10) > strtoul(known, NULL, 10);
}
