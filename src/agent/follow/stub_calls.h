/* stub_calls.h - where stubs enter the agent. */
#ifndef WM_AGENT_STUB_CALLS_H
#define WM_AGENT_STUB_CALLS_H

#include "agent/code/code.h"

extern const struct code_entries stub_calls_entries __attribute__((visibility("hidden")));

#endif
