/*
 * exec.c - programs into which the agent cannot come: static ones, those of another C library, and those that are started without
 * LD_PRELOAD. Nothing of them is recorded, and nothing else would say so: before each start of a program its file and its environment are
 * looked at, for `waymark run` (recorder/run.h). Without one nothing is looked at.
 *
 * Runs in children of vfork as well: no memory is changed but what the run shares. What the C library starts itself (system, popen: a
 * shell) is not seen.
 */
#include "native/exec.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/file.h"
#include "recorder/interpose.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/text.h"

typedef int (*execve_fn)(const char *, char *const[], char *const[]);
typedef int (*execv_fn)(const char *, char *const[]);
typedef int (*spawn_fn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
			char *const[], char *const[]);

enum {
	HEAD_BYTES = 1024, /* of a file: the ELF header and the program headers behind it */
};

static _Atomic(void *) next_execve, next_execv, next_execvp, next_execvpe, next_spawn, next_spawnp;

static const char preload_name[] = "LD_PRELOAD=";

static bool has_preload(char *const envp[])
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, preload_name, sizeof preload_name - 1) == 0)
			return strstr(*envp, "/libwaymark-") != NULL;
	return false;
}

/* The interpreter, which is part of the C library; -1: cannot be told, 0: none, else its offset. */
static long interpreter_off(const uint8_t *head, long len)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;

	memcpy(&ehdr, head, sizeof ehdr);
	if (ehdr.e_phentsize != sizeof phdr || ehdr.e_phoff > (uint64_t)len ||
	    ehdr.e_phnum > ((uint64_t)len - ehdr.e_phoff) / sizeof phdr)
		return -1;
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		memcpy(&phdr, head + ehdr.e_phoff + i * sizeof phdr, sizeof phdr);
		if (phdr.p_type == PT_INTERP)
			return (long)(phdr.p_offset & LONG_MAX);
	}
	return 0;
}

static enum wm1_missed_reason reason_of_elf(int fd, const uint8_t *head, long len)
{
	long off = len < (long)sizeof(Elf64_Ehdr) ? -1 : interpreter_off(head, len);
	char loader[64] = "";

	if (head[EI_CLASS] != ELFCLASS64 || head[offsetof(Elf64_Ehdr, e_machine)] != EM_X86_64)
		return WM1_MISSED_OTHER_MACHINE;
	if (off == 0)
		return WM1_MISSED_STATIC;
	if (off > 0)
		wmrt_sys6(SYS_pread64, fd, (long)loader, sizeof loader - 1, off, 0, 0);
	return strstr(loader, "ld-musl") ? WM1_MISSED_OTHER_LIBC : WM1_MISSED_NONE;
}

static enum wm1_missed_reason reason_of_file(const char *path)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
	enum wm1_missed_reason ret = WM1_MISSED_NONE;
	uint8_t head[HEAD_BYTES] = {0};
	struct stat st = {0};
	long len;

	if (fd < 0)
		return WM1_MISSED_NONE;
	len = wmrt_sys6(SYS_pread64, fd, (long)head, sizeof head, 0, 0, 0);
	if (len > EI_NIDENT + 4 && memcmp(head, ELFMAG, SELFMAG) == 0)
		ret = wmrt_sys3(SYS_fstat, fd, (long)&st, 0) == 0 && st.st_mode & (S_ISUID | S_ISGID)
			      ? WM1_MISSED_PRIVILEGED
			      : reason_of_elf((int)fd, head, len);
	wmrt_sys3(SYS_close, fd, 0, 0);
	return ret;
}

static enum wm1_missed_reason missed_reason_of(const char *path, char *const envp[])
{
	enum wm1_missed_reason reason = reason_of_file(path);

	/* A script has the environment; what it is run by is looked at when it is started. */
	if (!reason && !has_preload(envp) && wmrt_sys3(SYS_access, (long)path, X_OK, 0) == 0)
		reason = WM1_MISSED_NO_PRELOAD;
	if (reason) {
		wmrt_run_tell_missed(reason, path);
		wmrt_file_count_missed();
	}
	return reason;
}

static enum wm1_missed_reason look(const char *path, char *const envp[])
{
	return wmrt_run_is_watched() && path ? missed_reason_of(path, envp) : WM1_MISSED_NONE;
}

/* As execvp finds it. */
static enum wm1_missed_reason look_for(const char *name, char *const envp[])
{
	const char *dirs = getenv("PATH");
	char path[1024];

	if (!wmrt_run_is_watched() || !name)
		return WM1_MISSED_NONE;
	if (strchr(name, '/'))
		return missed_reason_of(name, envp);
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; *dirs; dirs += *dirs == ':') {
		struct wmrt_text text = {path, sizeof path, 0};

		for (; *dirs && *dirs != ':'; dirs++)
			wmrt_text_char(&text, *dirs);
		wmrt_text_add(&text, text.len ? "/" : "./");
		wmrt_text_add(&text, name);
		if (wmrt_text_fits(&text) && wmrt_sys3(SYS_access, (long)path, X_OK, 0) == 0)
			return missed_reason_of(path, envp);
	}
	return WM1_MISSED_NONE;
}

/* ---- an environment without the agent, which another C library's loader does not pass over: the program would not start ---- */

/* The room that put_environment needs; at least 1. */
static size_t environment_bytes(enum wm1_missed_reason reason, char *const envp[])
{
	size_t bytes = sizeof *envp;

	if (reason != WM1_MISSED_OTHER_LIBC)
		return 1;
	for (; envp && *envp; envp++)
		bytes += sizeof *envp +
			 (strncmp(*envp, preload_name, sizeof preload_name - 1) == 0 ? strlen(*envp) + 1 : 0);
	return bytes;
}

/* Copies a list of libraries, but for Waymark's. False: none is left. */
static bool put_libraries(char *to, const char *from)
{
	char *start = to;

	for (size_t len; *from; from += len + (from[len] != '\0')) {
		const char *own = strstr(from, "/libwaymark-");

		len = strcspn(from, ": ");
		if (!len || (own && own < from + len))
			continue;
		if (to != start)
			*to++ = ':';
		memcpy(to, from, len);
		to += len;
	}
	*to = '\0';
	return to != start;
}

static char *const *put_environment(enum wm1_missed_reason reason, char *const envp[], void *room)
{
	char **out = room, *text;
	size_t count = 0;

	if (reason != WM1_MISSED_OTHER_LIBC || !envp)
		return envp;
	while (envp[count])
		count++;
	text = (char *)(out + count + 1);
	for (size_t i = 0; i < count; i++) {
		if (strncmp(envp[i], preload_name, sizeof preload_name - 1) != 0) {
			*out++ = envp[i];
			continue;
		}
		memcpy(text, preload_name, sizeof preload_name - 1);
		if (!put_libraries(text + sizeof preload_name - 1, envp[i] + sizeof preload_name - 1))
			continue;
		*out++ = text;
		text += strlen(text) + 1;
	}
	*out = NULL;
	return room;
}

/* On the caller's stack: a child of vfork has nothing else that is its own. */
#define ENVIRONMENT_FOR(reason, envp) put_environment(reason, envp, __builtin_alloca(environment_bytes(reason, envp)))

/* ---- what starts programs ---- */

static int execute_here(execv_fn next, const char *path, char *const argv[])
{
	int rc;

	if (exec_begins)
		exec_begins();
	wmrt_file_exec_begins();
	rc = next(path, argv);
	wmrt_file_exec_failed();
	if (exec_failed)
		exec_failed();
	return rc;
}

static int execute(execve_fn next, const char *path, char *const argv[], char *const envp[])
{
	int rc;

	if (exec_begins)
		exec_begins();
	wmrt_file_exec_begins();
	rc = next(path, argv, envp);
	wmrt_file_exec_failed();
	if (exec_failed)
		exec_failed();
	return rc;
}

static int own_execve(const char *path, char *const argv[], char *const envp[])
{
	execve_fn next = (execve_fn)wmrt_next(&next_execve, "execve", (void *)own_execve);
	enum wm1_missed_reason reason = look(path, envp);

	return execute((execve_fn)next, path, argv, ENVIRONMENT_FOR(reason, envp));
}

static int own_execv(const char *path, char *const argv[])
{
	execv_fn next = (execv_fn)wmrt_next(&next_execv, "execv", (void *)own_execv);
	enum wm1_missed_reason reason = look(path, environ);
	char *const *envp = ENVIRONMENT_FOR(reason, environ);

	/* Calls the function that the program called: others may interpose on it, too. */
	if (envp == environ)
		return execute_here(next, path, argv);
	return execute((execve_fn)wmrt_next(&next_execve, "execve", (void *)own_execve), path, argv, envp);
}

static int own_execvpe(const char *name, char *const argv[], char *const envp[])
{
	execve_fn next = (execve_fn)wmrt_next(&next_execvpe, "execvpe", (void *)own_execvpe);
	enum wm1_missed_reason reason = look_for(name, envp);

	return execute(next, name, argv, ENVIRONMENT_FOR(reason, envp));
}

static int own_execvp(const char *name, char *const argv[])
{
	execv_fn next = (execv_fn)wmrt_next(&next_execvp, "execvp", (void *)own_execvp);
	enum wm1_missed_reason reason = look_for(name, environ);
	char *const *envp = ENVIRONMENT_FOR(reason, environ);

	if (envp == environ)
		return execute_here(next, name, argv);
	return execute((execve_fn)wmrt_next(&next_execvpe, "execvpe", (void *)own_execvpe), name, argv, envp);
}

static int own_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	spawn_fn next = (spawn_fn)wmrt_next(&next_spawn, "posix_spawn", (void *)own_posix_spawn);
	enum wm1_missed_reason reason = look(path, envp);

	return next(pid, path, actions, attributes, argv, ENVIRONMENT_FOR(reason, envp));
}

static int own_posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	spawn_fn next = (spawn_fn)wmrt_next(&next_spawnp, "posix_spawnp", (void *)own_posix_spawnp);
	enum wm1_missed_reason reason = look_for(name, envp);

	return next(pid, name, actions, attributes, argv, ENVIRONMENT_FOR(reason, envp));
}

/* How many there are from `first` on, its NULL included. */
static size_t arguments_of(const char *first, va_list rest)
{
	size_t count = 1;

	for (; first; first = va_arg(rest, const char *))
		count++;
	return count;
}

static void take_arguments(char **argv, const char *first, va_list *rest)
{
	*argv = (char *)(uintptr_t)first;
	while (*argv)
		*++argv = va_arg(*rest, char *);
}

#define BEGIN_ARGUMENTS(rest, argv, first)                                   \
	va_start(rest, first);                                               \
	argv = __builtin_alloca(arguments_of(first, rest) * sizeof *(argv)); \
	va_end(rest);                                                        \
	va_start(rest, first);                                               \
	take_arguments(argv, first, &(rest))

static int own_execl(const char *path, const char *first, ...)
{
	char **argv;
	va_list rest;

	BEGIN_ARGUMENTS(rest, argv, first);
	va_end(rest);
	return own_execv(path, argv);
}

static int own_execlp(const char *name, const char *first, ...)
{
	char **argv;
	va_list rest;

	BEGIN_ARGUMENTS(rest, argv, first);
	va_end(rest);
	return own_execvp(name, argv);
}

static int own_execle(const char *path, const char *first, ...)
{
	char **argv, *const *envp;
	va_list rest;

	BEGIN_ARGUMENTS(rest, argv, first);
	envp = va_arg(rest, char *const *);
	va_end(rest);
	return own_execve(path, argv, envp);
}

WMRT_INTERPOSE(execve, own_execve);
WMRT_INTERPOSE(execv, own_execv);
WMRT_INTERPOSE(execvp, own_execvp);
WMRT_INTERPOSE(execvpe, own_execvpe);
WMRT_INTERPOSE(execl, own_execl);
WMRT_INTERPOSE(execlp, own_execlp);
WMRT_INTERPOSE(execle, own_execle);
WMRT_INTERPOSE(posix_spawn, own_posix_spawn);
WMRT_INTERPOSE(posix_spawnp, own_posix_spawnp);

/* dlsym is nothing to call in a child of vfork. */
void exec_start(void)
{
	wmrt_next(&next_execve, "execve", (void *)own_execve);
	wmrt_next(&next_execv, "execv", (void *)own_execv);
	wmrt_next(&next_execvp, "execvp", (void *)own_execvp);
	wmrt_next(&next_execvpe, "execvpe", (void *)own_execvpe);
	wmrt_next(&next_spawn, "posix_spawn", (void *)own_posix_spawn);
	wmrt_next(&next_spawnp, "posix_spawnp", (void *)own_posix_spawnp);
}
