/*
 * thread_ids.c - java.lang.Thread.eetop is the address of a JavaThread, whose _osthread has the number. The thread may end meanwhile: its memory is
 * read by the kernel, and the number counts only if it is that of a thread of this process.
 */
#include "jvm/c/walk/thread_ids.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "jvm/c/base/java.h"
#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	PATH_BYTES = 64,
	LINE_BYTES = 128,
};

/* Where an entry of gHotSpotVMStructs has its parts. */
struct layout {
	uint64_t type_name, field_name, is_static, offset, stride;
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

/* ---- HotSpot's tables ---- */

static bool read_number(void *library, const char *name, uint64_t *ret)
{
	const uint64_t *at = dlsym(library, name);

	if (at)
		*ret = *at;
	return at;
}

static const char *text_at(const char *entry, uint64_t off)
{
	const char *ret;

	memcpy(&ret, entry + off, sizeof ret);
	return ret;
}

/* of: NULL: any type that has such a field. */
static bool find_offset(const char *entries, const struct layout *l, const char *of, const char *field, uint64_t *ret)
{
	for (const char *e = entries; text_at(e, l->field_name); e += l->stride) {
		int32_t is_static;

		memcpy(&is_static, e + l->is_static, sizeof is_static);
		if (is_static || strcmp(text_at(e, l->field_name), field) != 0 ||
		    (of && strcmp(text_at(e, l->type_name), of) != 0))
			continue;
		memcpy(ret, e + l->offset, sizeof *ret);
		return true;
	}
	return false;
}

/* The field is one of JavaThread in older JDKs, of its superclass in newer ones, at the beginning of which it is. */
static bool read_offsets(void *library)
{
	const char *const *entries = dlsym(library, "gHotSpotVMStructs");
	struct layout l;

	return entries && *entries && read_number(library, "gHotSpotVMStructEntryTypeNameOffset", &l.type_name) &&
	       read_number(library, "gHotSpotVMStructEntryFieldNameOffset", &l.field_name) &&
	       read_number(library, "gHotSpotVMStructEntryIsStaticOffset", &l.is_static) &&
	       read_number(library, "gHotSpotVMStructEntryOffsetOffset", &l.offset) &&
	       read_number(library, "gHotSpotVMStructEntryArrayStride", &l.stride) &&
	       find_offset(*entries, &l, NULL, "_osthread", &os_thread_off) &&
	       find_offset(*entries, &l, "OSThread", "_thread_id", &number_off);
}

void jvm_thread_ids_init(JavaVM *vm, JNIEnv *env)
{
	Dl_info info;
	void *library = dladdr((void *)(*vm)->GetEnv, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	if (!library)
		return;
	if (read_offsets(library))
		native_thread = jvm_find_field(env, "java/lang/Thread", "eetop", "J");
	dlclose(library);
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
