/*
 * namespaces.c - the interposed dlmopen.
 *
 * A namespace has a C library of its own, which finds none of the functions that are interposed here: the threads that it makes and the
 * blocks that it allocates are not seen. Its code is walked through as any other, and named.
 *
 * The call is handed on by a tail call: the C library searches the paths of who calls.
 */
#include "native/namespaces.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "recorder/interpose.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/text.h"

typedef void *(*open_fn)(Lmid_t names, const char *file, int flags);

static _Atomic(void *) next_open;
static _Atomic bool is_to_say;

static void say(const char *file)
{
	const char *slash = strrchr(file, '/');
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, ": a library is in a namespace of its own (dlmopen, ");
	for (file = slash ? slash + 1 : file; *file; file++)
		wmrt_text_char(&text, *file > ' ' && *file < 0x7f ? *file : '?');
	wmrt_text_add(&text, "), with its own C library: threads and allocations of that are not recorded\n");
	if (wmrt_text_fits(&text))
		wmrt_sys3(SYS_write, STDERR_FILENO, (long)text.data, (long)text.len);
}

static void *own_dlmopen(Lmid_t names, const char *file, int flags)
{
	open_fn next = (open_fn)wmrt_next(&next_open, "dlmopen", (void *)own_dlmopen);

	if (file && names != LM_ID_BASE && atomic_exchange_explicit(&is_to_say, false, memory_order_relaxed))
		say(file);
	return next(names, file, flags);
}
WMRT_INTERPOSE(dlmopen, own_dlmopen);

void namespaces_start(void)
{
	wmrt_next(&next_open, "dlmopen", (void *)own_dlmopen);
	atomic_store_explicit(&is_to_say, true, memory_order_relaxed);
}
