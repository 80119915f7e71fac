/*
 * thread_ids.c - java.lang.Thread.eetop is the address of a JavaThread, whose _osthread has the number. The thread may end meanwhile: its memory is
 * read by the kernel, and the number counts only if it is that of a thread of this process.
 */
#include "jvm/c/walk/thread_ids.h"

#include <fcntl.h>
#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "jvm/c/base/java.h"
#include "jvm/c/walk/vm_structs.h"
#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	PATH_BYTES = 64,
	LINE_BYTES = 128,
};

/* Written by init; native_thread is NULL where nothing is known. */
static jfieldID native_thread;
static uint64_t os_thread_off, number_off;

/* NOLINTBEGIN(performance-no-int-to-ptr) */
static bool read_memory(uint64_t address, void *ret, size_t size)
{
	const struct iovec to = {ret, size}, from = {(void *)address, size};

	return wmrt_sys6(SYS_process_vm_readv, wmrt_getpid(), (long)&to, 1, (long)&from, 1, 0) == (long)size;
}
/* NOLINTEND(performance-no-int-to-ptr) */

/* The first field is one of JavaThread in older JDKs, of its superclass in newer ones, at the beginning of which it is. */
void jvm_thread_ids_init(JavaVM *vm, JNIEnv *env)
{
	struct vm_structs structs;

	if (!vm_structs_open(vm, &structs))
		return;
	if (vm_structs_offset(&structs, NULL, "_osthread", &os_thread_off) &&
	    vm_structs_offset(&structs, "OSThread", "_thread_id", &number_off))
		native_thread = jvm_find_field(env, "java/lang/Thread", "eetop", "J");
	vm_structs_close(&structs);
}

/* ---- of a thread ---- */

static long open_file(uint32_t tid, const char *name)
{
	char path[PATH_BYTES];
	struct wmrt_text text = {path, sizeof path, 0};

	wmrt_text_add(&text, "/proc/self/task/");
	wmrt_text_number(&text, tid, 10, 1);
	wmrt_text_add(&text, "/");
	wmrt_text_add(&text, name);
	return wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

static bool is_ours(uint32_t tid)
{
	return tid && wmrt_sys3(SYS_tgkill, wmrt_getpid(), tid, 0) == 0;
}

uint32_t jvm_thread_id(JNIEnv *env, jobject thread)
{
	uint64_t address = native_thread ? (uint64_t)(*env)->GetLongField(env, thread, native_thread) : 0,
		 os_thread = 0;
	uint32_t ret = 0;

	if (!address || !read_memory(address + os_thread_off, &os_thread, sizeof os_thread) || !os_thread ||
	    !read_memory(os_thread + number_off, &ret, sizeof ret))
		return 0;
	return is_ours(ret) ? ret : 0;
}

/* schedstat: time on a CPU, time waiting for one, slices. */
uint64_t jvm_thread_delay_ns(uint32_t tid)
{
	char line[LINE_BYTES];
	const char *at = line;
	uint64_t ret = 0;
	long fd = tid ? open_file(tid, "schedstat") : -1, len;

	if (fd < 0)
		return 0;
	len = wmrt_sys3(SYS_read, fd, (long)line, sizeof line - 1);
	wmrt_sys3(SYS_close, fd, 0, 0);
	line[len > 0 ? len : 0] = '\0';
	while (*at >= '0' && *at <= '9')
		at++;
	for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
		ret = ret * 10 + (uint64_t)(*at - '0');
	return ret;
}
