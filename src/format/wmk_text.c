/* wmk_text.c - what codes in a header mean, in words. */
#include <errno.h>
#include <string.h>

#include "format/wmk.h"

_Static_assert(WMK_DROP_LIMIT == EFBIG, "an errno value that the kernel does not give here");

const char *wmk_drop_text(uint64_t drop_errno)
{
	switch (drop_errno) {
	case WMK_DROP_LIMIT:
		return "its size limit was reached (WAYMARK_LIMIT)";
	case WMK_DROP_FILE_SIZE:
		return "the limit on the size of files was reached (ulimit -f)";
	case ENOENT:
	case ESTALE:
		return "its directory or its file was moved or removed";
	case ENOMEM:
		return "memory or address space ran out (ulimit -v)";
	default:
		return strerror((int)(drop_errno & 0xffff));
	}
}

/* NULL: the state is the good one. */
static const char *state_text(const char *const *texts, uint64_t count, uint64_t good, uint64_t state)
{
	if (state == good)
		return NULL;
	return state < count ? texts[state] : "for a reason that this version does not know";
}

const char *wmk_agent_text(uint32_t agent)
{
	static const char *const texts[] = {
#define WMK_AGENT_STATE(name, text) text,
		WMK_AGENT_STATES(WMK_AGENT_STATE)
#undef WMK_AGENT_STATE
	};

	return state_text(texts, WMK_AGENT_END, WMK_AGENT_OK, agent);
}

const char *wmk_reach_text(uint64_t reach)
{
	static const char *const texts[] = {
#define WMK_REACH_STATE(name, text) text,
		WMK_REACH_STATES(WMK_REACH_STATE)
#undef WMK_REACH_STATE
	};

	return state_text(texts, WMK_REACH_END, WMK_REACH_TOLD, reach);
}
