/*
 * exception.c - exceptions, forced unwinding and cleanups land in the agent first: a personality routine tells the unwinder the landing
 * pad by _Unwind_SetIP, and the agent gives it another (resume.h). An unwinder that is linked into the program is not seen here.
 *
 * Between that call and the landing only the unwinder runs. While it does, no epoch begins: the unwinder finds the frame that
 * catches in a first walk, and knows it again in the second by its CFA, less 1 where it came to it by a signal frame, which a trampoline is. An
 * epoch that begins while a cleanup runs may move the call of that frame to its trampoline or from it: then the note is corrected.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <unwind.h>

#include "agent/threads/thread.h"
#include "agent/os/state.h"
#include "agent/code/trampolines.h"
#include "agent/follow/jump.h"
#include "agent/follow/resume.h"
#include "agent/threads/lock.h"
#include "agent/program/program.h"
#include "recorder/interpose.h"

typedef _Unwind_Reason_Code (*raise_fn)(struct _Unwind_Exception *);

static _Atomic(void *) next_set, next_raise, next_rethrow, next_resume;

static void own_set(struct _Unwind_Context *context, _Unwind_Ptr pad)
{
	void (*next)(struct _Unwind_Context *, _Unwind_Ptr) = wmrt_next(&next_set, "_Unwind_SetIP", (void *)own_set);

	next(context, agent_is_on && agent_thread.base ? resume_at(pad, 0) : pad);
}

/* The first walk begins. */
static _Unwind_Reason_Code own_raise(struct _Unwind_Exception *exception)
{
	raise_fn next = (raise_fn)wmrt_next(&next_raise, "_Unwind_RaiseException", (void *)own_raise);
	_Unwind_Reason_Code code;

	agent_thread.is_unwinding = true;
	code = next(exception);
	agent_thread.is_unwinding = false;
	return code;
}

/* The frame that catches, whose callee returns by the word below its CFA. */
static void correct(struct _Unwind_Exception *exception)
{
	uintptr_t cfa = (exception->private_2 + 1) & ~(uintptr_t)7, returns = *(const uintptr_t *)(cfa - 8);
	struct agent_guard guard;
	uint32_t site;

	agent_lock(&guard);
	if (trampoline_find(returns, &site)) {
		exception->private_2 = cfa - 1;
	} else if (exception->private_2 == cfa - 1) {
		site = agent_site_returning_to(returns);
		if (site != AGENT_NONE && agent_site(site)->trampoline)
			exception->private_2 = cfa;
	}
	agent_unlock(&guard);
}

static _Unwind_Reason_Code own_rethrow(struct _Unwind_Exception *exception)
{
	raise_fn next = (raise_fn)wmrt_next(&next_rethrow, "_Unwind_Resume_or_Rethrow", (void *)own_rethrow);
	_Unwind_Reason_Code code;

	agent_thread.is_unwinding = true;
	code = next(exception);
	agent_thread.is_unwinding = false;
	return code;
}

/* After a cleanup: on in the second walk. */
static void own_resume(struct _Unwind_Exception *exception)
{
	void (*next)(struct _Unwind_Exception *) = wmrt_next(&next_resume, "_Unwind_Resume", (void *)own_resume);

	agent_thread.is_unwinding = true;
	/* private_1 is the function that a forced unwinding asks. */
	if (agent_is_on && agent_thread.base && !exception->private_1 && exception->private_2)
		correct(exception);
	next(exception);
	__builtin_unreachable();
}

WMRT_INTERPOSE(_Unwind_SetIP, own_set);
WMRT_INTERPOSE(_Unwind_RaiseException, own_raise);
WMRT_INTERPOSE(_Unwind_Resume_or_Rethrow, own_rethrow);
WMRT_INTERPOSE(_Unwind_Resume, own_resume);

/* Of the C++ ABI. */
struct cxa_globals {
	void *caught;
	unsigned int uncaught_count;
};

/* Written at start. */
static struct cxa_globals *(*globals)(void);
static size_t tls_module;

/* Of glibc: the thread-local blocks of a thread. */
struct dtv {
	uintptr_t block;
	uintptr_t to_free;
};

/* The library's thread-local block in the thread with that %fs; 0: none was used yet. */
static uintptr_t block_of(uintptr_t fs)
{
	enum {
		DTV = 8, /* in tcbhead_t */
	};
	const struct dtv *dtv = *(const struct dtv *const *)(fs + DTV); /* NOLINT(performance-no-int-to-ptr) */

	if (!tls_module || !dtv || tls_module > dtv[-1].block || dtv[tls_module].block == UINTPTR_MAX)
		return 0;
	return dtv[tls_module].block;
}

bool exception_is_thrown(uintptr_t fs)
{
	uintptr_t own = block_of((uintptr_t)__builtin_thread_pointer()), other = block_of(fs);

	if (!globals || !own || !other)
		return false;
	return ((const struct cxa_globals *)(other + ((uintptr_t)globals() - own)))->uncaught_count > 0; /* NOLINT */
}

void exception_start(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (library && !globals) {
		globals = (struct cxa_globals * (*)(void)) dlsym(library, "__cxa_get_globals");
		if (globals)
			globals(); /* its memory is there from now on */
		dlinfo(library, RTLD_DI_TLS_MODID, &tls_module);
	}
	if (library)
		dlclose(library);
	wmrt_next(&next_set, "_Unwind_SetIP", (void *)own_set);
	wmrt_next(&next_raise, "_Unwind_RaiseException", (void *)own_raise);
	wmrt_next(&next_rethrow, "_Unwind_Resume_or_Rethrow", (void *)own_rethrow);
	wmrt_next(&next_resume, "_Unwind_Resume", (void *)own_resume);
}
