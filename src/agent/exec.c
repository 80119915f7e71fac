/*
 * exec.c - programs into which the agent cannot come: static ones, those of another C library, and those that are started without
 * LD_PRELOAD. Nothing of them is recorded, and nothing else would say so: before each start of a program its file and its environment are
 * looked at, for `waymark run` (recorder/run.h). Without one nothing is looked at.
 *
 * Runs in children of vfork as well: no memory is changed but what the run shares. What the C library starts itself (system, popen) and
 * execl with its like are not seen.
 */
#include "agent/exec.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool has_preload(char *const envp[])
{
	static const char name[] = "LD_PRELOAD=";

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, sizeof name - 1) == 0)
			return strstr(*envp, "libwaymark-agent.so") != NULL;
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

static void look_at(const char *path, char *const envp[])
{
	enum wm1_missed_reason reason = reason_of_file(path);

	/* A script has the environment; what it is run by is looked at when it is started. */
	if (!reason && !has_preload(envp) && wmrt_sys3(SYS_access, (long)path, X_OK, 0) == 0)
		reason = WM1_MISSED_NO_PRELOAD;
	if (reason)
		wmrt_run_tell_missed(reason, path);
}

static void look(const char *path, char *const envp[])
{
	if (wmrt_run_is_watched() && path)
		look_at(path, envp);
}

/* As execvp finds it. */
static void look_for(const char *name, char *const envp[])
{
	const char *dirs = getenv("PATH");
	char path[1024];

	if (!wmrt_run_is_watched() || !name)
		return;
	if (strchr(name, '/')) {
		look_at(name, envp);
		return;
	}
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; *dirs; dirs += *dirs == ':') {
		struct wmrt_text text = {path, sizeof path, 0};

		for (; *dirs && *dirs != ':'; dirs++)
			wmrt_text_char(&text, *dirs);
		wmrt_text_add(&text, text.len ? "/" : "./");
		wmrt_text_add(&text, name);
		if (wmrt_text_fits(&text) && wmrt_sys3(SYS_access, (long)path, X_OK, 0) == 0) {
			look_at(path, envp);
			return;
		}
	}
}

static int own_execve(const char *path, char *const argv[], char *const envp[])
{
	execve_fn next = (execve_fn)wmrt_next(&next_execve, "execve", (void *)own_execve);

	look(path, envp);
	return next(path, argv, envp);
}

static int own_execv(const char *path, char *const argv[])
{
	execv_fn next = (execv_fn)wmrt_next(&next_execv, "execv", (void *)own_execv);

	look(path, environ);
	return next(path, argv);
}

static int own_execvp(const char *name, char *const argv[])
{
	execv_fn next = (execv_fn)wmrt_next(&next_execvp, "execvp", (void *)own_execvp);

	look_for(name, environ);
	return next(name, argv);
}

static int own_execvpe(const char *name, char *const argv[], char *const envp[])
{
	execve_fn next = (execve_fn)wmrt_next(&next_execvpe, "execvpe", (void *)own_execvpe);

	look_for(name, envp);
	return next(name, argv, envp);
}

static int own_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	spawn_fn next = (spawn_fn)wmrt_next(&next_spawn, "posix_spawn", (void *)own_posix_spawn);

	look(path, envp);
	return next(pid, path, actions, attributes, argv, envp);
}

static int own_posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	spawn_fn next = (spawn_fn)wmrt_next(&next_spawnp, "posix_spawnp", (void *)own_posix_spawnp);

	look_for(name, envp);
	return next(pid, name, actions, attributes, argv, envp);
}

WMRT_INTERPOSE(execve, own_execve);
WMRT_INTERPOSE(execv, own_execv);
WMRT_INTERPOSE(execvp, own_execvp);
WMRT_INTERPOSE(execvpe, own_execvpe);
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
