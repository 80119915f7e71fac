/*
 * doctor.c - `waymark doctor`: what of Waymark works on this machine, for this user, and what to do about the rest. Each check is a function
 * that says one finding; nothing is changed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/command.h"
#include "cli/install_paths.h"
#include "cli/llvm_version.h"
#include "cli/message.h"

enum verdict {
	WORKS,
	WORKS_PARTLY,
	FAILS,
};

static const char *const verdict_names[] = {[WORKS] = "yes", [WORKS_PARTLY] = "partly", [FAILS] = "no"};

struct finding {
	enum verdict verdict;
	char text[256]; /* what was found, and what to do */
};

static __attribute__((format(printf, 2, 3))) struct finding found(enum verdict verdict, const char *format, ...)
{
	struct finding ret = {.verdict = verdict};
	va_list args;

	va_start(args, format);
	vsnprintf(ret.text, sizeof ret.text, format, args);
	va_end(args);
	return ret;
}

/* The first line of a file of /proc or /sys, "" where it cannot be read. */
static void read_line(const char *path, char line[PATH_MAX])
{
	FILE *f = fopen(path, "re");

	line[0] = '\0';
	if (f && fgets(line, PATH_MAX, f))
		line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
	plain_make(line);
}

static long read_number(const char *path, long otherwise)
{
	char line[PATH_MAX];

	read_line(path, line);
	return *line ? strtol(line, NULL, 10) : otherwise;
}

/* A field of /proc/self/status, in base; 0: it is not there. */
static unsigned long long status_field(const char *name, int base)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	unsigned long long ret = 0;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			ret = strtoull(line + strlen(name) + 1, NULL, base);
	if (f)
		fclose(f);
	return ret;
}

static bool has_capability(unsigned number)
{
	return status_field("CapEff", 16) >> number & 1;
}

static bool is_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		size_t len = strcspn(path, ":");

		if (snprintf(file, sizeof file, "%.*s/%s", (int)len, path, name) < (int)sizeof file &&
		    access(file, X_OK) == 0)
			return true;
		path += len;
		path += *path == ':';
	}
	return false;
}

static bool is_there(const char *directory, const char *name)
{
	char file[PATH_MAX];

	return snprintf(file, sizeof file, "%s/%s", directory, name) < (int)sizeof file && access(file, R_OK) == 0;
}

/* ---- checks ---- */

static struct finding check_samples(const struct install_paths *paths)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .size = sizeof attr,
				       .sample_period = 1000000,
				       .exclude_kernel = 1,
				       .disabled = 1};
	int fd;

	if (!is_there(paths->sampler_dir, INSTALL_SAMPLER))
		return found(FAILS, INSTALL_SAMPLER " is missing: install Waymark again");
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return found(WORKS, "by perf's task clock");
	}
	return found(WORKS,
		     "by timers of CPU time, since perf_event_open fails (%s, perf_event_paranoid %ld): "
		     "the true rate is told",
		     strerror(errno), read_number("/proc/sys/kernel/perf_event_paranoid", -1));
}

static struct finding check_heap(const struct install_paths *paths)
{
	if (!is_there(paths->runtime_dir, INSTALL_HEAP))
		return found(FAILS, INSTALL_HEAP " is missing: install Waymark again");
	return found(WORKS, "of dynamically linked programs");
}

static struct finding check_agent(const struct install_paths *paths)
{
	struct rlimit limit;
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	if (!is_there(paths->agent_dir, INSTALL_AGENT))
		return found(FAILS, INSTALL_AGENT " is missing: libzydis-dev was not there when Waymark was built");
	if (fd < 0)
		return found(FAILS, "/proc/self/mem cannot be written: %s", strerror(errno));
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < UINT64_C(1) << 30)
		return found(FAILS, "the limit on address space is too low (ulimit -v): it needs 800 MB");
	return found(WORKS, "glibc %s", gnu_get_libc_version());
}

static struct finding check_attach(const struct install_paths *paths)
{
	long scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	(void)paths;
	if (has_capability(19) || scope == 0) /* CAP_SYS_PTRACE */
		return found(WORKS, "%s",
			     has_capability(19) ? "to processes of all users" : "to processes of this user");
	if (scope == 3)
		return found(FAILS, "ptrace_scope is 3: no process may trace another, until the next boot");
	return found(WORKS_PARTLY, "ptrace_scope is %ld: as root only, or after sysctl kernel.yama.ptrace_scope=0",
		     scope);
}

static struct finding check_java(const struct install_paths *paths)
{
	if (!is_there(paths->jvm_dir, INSTALL_JVM_AGENT) || !is_there(paths->jvm_dir, "waymark-jvm.jar"))
		return found(
			FAILS,
			"the agent for Java is missing: a JDK and libasm-java were not there when Waymark was built");
	if (!is_in_path("java"))
		return found(WORKS_PARTLY, "there is no java in PATH");
	return found(WORKS, "HotSpot, JDK 17 to 25");
}

static struct finding check_compiler(const struct install_paths *paths)
{
	if (access(paths->plugin, R_OK) != 0)
		return found(FAILS, "waymark-pass.so is missing: install Waymark again");
	const char *clang = "clang-" WAYMARK_LLVM;
	const char *lld = "ld.lld-" WAYMARK_LLVM;

	if (!is_in_path(clang) || !is_in_path(lld))
		return found(FAILS, "%s is not in PATH: install clang-%s and lld-%s", is_in_path(clang) ? lld : clang,
			     WAYMARK_LLVM, WAYMARK_LLVM);
	return found(WORKS, "by clang %s and lld %s", WAYMARK_LLVM, WAYMARK_LLVM);
}

static struct finding check_slices(const struct install_paths *paths)
{
	if (!is_there(paths->slice_dir, "waymark-slice"))
		return found(FAILS, "waymark-slice is missing: install Waymark again");
	return found(WORKS, "of programs built by waymark cc --wm=trace");
}

static struct finding check_cores(const struct install_paths *paths)
{
	char pattern[PATH_MAX];
	struct rlimit limit = {.rlim_cur = 0};

	(void)paths;
	read_line("/proc/sys/kernel/core_pattern", pattern);
	getrlimit(RLIMIT_CORE, &limit);
	if (*pattern == '|')
		return found(WORKS, "a program takes them: %.160s", pattern + 1);
	if (!limit.rlim_cur)
		return found(WORKS_PARTLY, "none is written here: ulimit -c unlimited (core_pattern is %.100s)",
			     pattern);
	return found(WORKS, "core_pattern is %.160s", pattern);
}

static struct finding check_debug(const struct install_paths *paths)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY);

	(void)paths;
	if (library)
		dlclose(library);
	if (!getenv("DEBUGINFOD_URLS"))
		return found(WORKS_PARTLY, "of files that are here: set DEBUGINFOD_URLS to ask a server for others");
	if (!library)
		return found(WORKS_PARTLY, "DEBUGINFOD_URLS is set, and libdebuginfod1 is not installed");
	return found(WORKS, "also of a server");
}

static struct finding check_filter(const struct install_paths *paths)
{
	(void)paths;
	if (status_field("Seccomp", 10) == 2)
		return found(WORKS_PARTLY,
			     "this shell is under a seccomp filter, as in containers: what it forbids is told");
	return found(WORKS, "no seccomp filter");
}

static struct finding check_room(const struct install_paths *paths)
{
	struct statvfs fs;
	struct rlimit limit;

	(void)paths;
	if (access(".", W_OK) != 0)
		return found(FAILS, "this directory cannot be written: use -o FILE or WAYMARK_OUT");
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < UINT64_C(1) << 20)
		return found(FAILS, "the limit on files is %" PRIu64 " bytes (ulimit -f)", (uint64_t)limit.rlim_cur);
	if (statvfs(".", &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < UINT64_C(100) << 20)
		return found(WORKS_PARTLY, "only %" PRIu64 " MB are free here",
			     (uint64_t)fs.f_bavail * fs.f_frsize >> 20);
	return found(WORKS, "in this directory");
}

static const struct check {
	const char *what;
	struct finding (*run)(const struct install_paths *paths);
} checks[] = {
	{"samples (run --sample, --wall)", check_samples},
	{"heap (run --heap)", check_heap},
	{"agent (run --encode, --check)", check_agent},
	{"attach", check_attach},
	{"Java programs", check_java},
	{"waymark cc", check_compiler},
	{"slices", check_slices},
	{"cores", check_cores},
	{"names and lines", check_debug},
	{"system calls", check_filter},
	{"recordings", check_room},
};

static const struct option_row option_rows[] = {
	OPTION_HELP,
	OPTIONS_END,
};

static int run(const struct command *command, int argc, char **argv)
{
	struct install_paths paths;
	int status = options_parse(command, NULL, argc, argv);
	struct error *err;

	if (status != OPTIONS_PARSED)
		return status;
	if (optind < argc)
		return message_usage("doctor", "%s: one argument too many", argv[optind]);
	err = install_paths_find(&paths);
	if (err)
		return message_error("doctor", err);
	status = STATUS_OK;
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
		struct finding f = checks[i].run(&paths);

		printf("%-31s %-7s ", checks[i].what, verdict_names[f.verdict]);
		plain_print(stdout, f.text);
		putchar('\n');
		if (f.verdict == FAILS)
			status = STATUS_FAILED;
	}
	install_paths_deinit(&paths);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "what works on this machine, and what to do about the rest",
	.usage = "Usage: waymark doctor\n"
		 "\n"
		 "Says of each part of Waymark whether it works here, for this user: samples,\n"
		 "heap, attach, Java, the compiler, cores, debug information; and what to do about\n"
		 "what does not. Nothing is changed.\n",
	.options = option_rows,
	.notes = "Exit status: 0 if no part says no, else 1; 2 for a wrong command line.\n",
	.run = run,
};
