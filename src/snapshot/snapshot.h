/*
 * snapshot.h - a stopped program: a core dump or a live process, its modules, threads, machine frames and memory. elfutils'
 * libdwfl does the work; nothing here knows of tracing.
 *
 * A core that ends early or lacks segments is read as far as it goes; `notes` lists what is missing, one line each.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_H
#define WM_SNAPSHOT_SNAPSHOT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "object/debug_lines.h"
#include "object/find.h"

enum {
	SNAPSHOT_REGISTERS = 17, /* DWARF numbers 0 to 16 (16: the return address column, pc) */
};

/* A file mapped into the process. */
struct snapshot_module {
	const char *path; /* as loaded */
	const char *file; /* where its code and metadata were found; NULL: nowhere */
	uint64_t start, end;
	uint64_t bias; /* address in memory = address as linked + bias */
	struct build_id build_id;
	Dwfl_Module *dwfl;
};

struct snapshot_frame {
	uint64_t pc;        /* as loaded */
	bool is_activation; /* pc is the next instruction to run; else a return address: look up pc - 1 */
	bool is_trampoline; /* what a signal handler returns to: no function that anybody called */
	uint64_t cfa;       /* has_cfa: the frame's canonical frame address */
	bool has_cfa;
	uint64_t registers[SNAPSHOT_REGISTERS];
	uint32_t known;  /* bit r: register r is known in this frame */
	uint32_t module; /* index; UINT32_MAX: none */
};

struct snapshot_thread {
	pid_t tid;
	uint64_t thread_pointer;       /* fs_base: what thread-local data is relative to */
	const char *name;              /* NULL: not known */
	bool is_first;                 /* the one that got the signal; live: the main thread */
	int signal;                    /* it died of or is stopped by; 0: none */
	int64_t waits_in;              /* number of the system call that it waits in; -1: none */
	uint64_t wait_arguments[2];    /* the first ones of that */
	struct snapshot_frame *frames; /* innermost first */
	uint32_t frame_count;
	const char *cut; /* why there are no more frames, when the last one is not the thread's first; else NULL */
};

struct snapshot {
	struct arena arena;
	Dwfl *dwfl;
	pid_t pid;
	bool is_live;
	int signal;      /* of the process */
	int signal_code; /* has_signal_code: si_code of siginfo_t */
	bool has_signal_code;
	uint64_t fault_address;
	bool has_fault_address;
	pid_t sender; /* has_sender: of the signal; 0: of another pid namespace */
	uid_t sender_user;
	bool has_sender;
	int64_t refused_call; /* SIGSYS: number of the system call; else -1 */
	const char *command;  /* as far as the core has it; NULL: not known */
	struct snapshot_module *modules;
	uint32_t module_count;
	uint32_t main_module;            /* the program; UINT32_MAX: not known */
	struct snapshot_thread *threads; /* is_first ones first */
	uint32_t thread_count;
	const char **notes;
	uint32_t note_count;
	void *source; /* private: what memory is read from */
};

struct snapshot_options {
	const char *program;                /* NULL: what the core or the process names */
	const struct object_search *search; /* --exe, --debug-dir */
	uint32_t frame_limit;               /* for each thread; 0: none */
};

/* The file says that it is a core, or is packed as cores are: opening it reports what is wrong with it. */
bool snapshot_is_core(const char *path);
/* ERROR_MISMATCH when the program's build id is not the core's: names both. */
struct error *snapshot_open_core(const char *core, const struct snapshot_options *options, struct snapshot *ret);
/* Stops the process's threads (ptrace) for as long as it is open. */
struct error *snapshot_open_process(pid_t pid, const struct snapshot_options *options, struct snapshot *ret);
void snapshot_close(struct snapshot *s);

/* Reads memory of the process; false when any of it is not there. */
bool snapshot_read(const struct snapshot *s, uint64_t address, void *ret, size_t len_bytes);

/* The mapping at an address, as the core or the headers of the file describe it. */
struct snapshot_region {
	bool is_told; /* what may be done there is known */
	bool is_readable, is_writable, is_executable;
	uint64_t start, end;
	const char *path;  /* of the file; NULL: of none */
	uint64_t file_off; /* of the address in it */
};
/* false: nothing, as far as is known. */
bool snapshot_region_at(const struct snapshot *s, uint64_t address, struct snapshot_region *ret);

/* The CFA rule at an address of a module as linked: CFA = register + offset. false: none, or one that is not so simple. */
bool snapshot_cfa_rule(const struct snapshot *s, uint32_t module, uint64_t linked_pc, int *ret_register,
		       int64_t *ret_offset);

/* Functions and lines at a machine frame's pc, innermost inlined one first; at least one. They live as long as s. */
struct error *snapshot_lines(struct snapshot *s, const struct snapshot_frame *frame, const struct debug_line **ret,
			     uint32_t *ret_count);
/* After it: what the module's debug information lacks (debug_lines_lost); NULL: nothing. It is s's. */
const struct error *snapshot_lost(const struct snapshot *s, uint32_t module);

#endif
