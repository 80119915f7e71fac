/*
 * source.h - private to src/snapshot: what a core dump (core.c) and a live process (live.c) both provide.
 * Both fill in mappings and threads; snapshot_source_read serves both.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_SOURCE_H
#define WM_SNAPSHOT_SNAPSHOT_SOURCE_H

#include <elfutils/libdw.h>

#include "base/vec.h"
#include "object/file.h"
#include "snapshot/snapshot.h"

/* Part of a file in memory. */
struct snapshot_mapping {
	uint64_t start, end;
	uint64_t file_off;
	const char *path;
	bool is_told; /* what follows is known: gdb's cores leave out what is as in the file */
	bool is_readable;
	bool is_executable;
	bool is_writable;
};
VEC_DECLARE(snapshot_mapping_vec, struct snapshot_mapping);

/* Memory whose content the core has. */
struct snapshot_segment {
	uint64_t start, end; /* what there was */
	const uint8_t *bytes;
	uint64_t len_bytes; /* what is there of it, from start on */
	bool is_readable;
	bool is_executable;
	bool is_writable;
};
VEC_DECLARE(snapshot_segment_vec, struct snapshot_segment);

struct snapshot_raw_thread {
	pid_t tid;
	int signal; /* that it was stopped by, to give back to it when it goes on; live only */
	const char *name;
	uint64_t registers[SNAPSHOT_REGISTERS];
	uint64_t thread_pointer;
	int64_t system_call; /* as the kernel has it, also of one that has just ended; negative: none */
};
VEC_DECLARE(snapshot_raw_thread_vec, struct snapshot_raw_thread);

VEC_DECLARE(snapshot_note_vec, const char *);

struct snapshot_page;

/* Private part of a module. */
struct snapshot_image {
	const struct snapshot_source *source;
	const struct snapshot_module *module;
	struct mapped_file file; /* bytes NULL: not mapped (yet) */
	bool is_tried;
	uint8_t *copy; /* malloc'd: the vdso's bytes */
};

struct snapshot_source {
	const char *name; /* for messages: "core.12", "process 12" */
	struct mapped_file core;
	struct snapshot_segment_vec segments; /* rising */
	int memory_fd;                        /* live: /proc/PID/mem; else -1 */
	struct snapshot_page *pages;          /* live: what was read lately */
	struct snapshot_mapping_vec mappings; /* rising */
	struct snapshot_raw_thread_vec threads;
	uint64_t entry; /* AT_ENTRY of the auxiliary vector, 0: not known */
	uint64_t vdso;  /* AT_SYSINFO_EHDR */
	struct snapshot_note_vec notes;
	const struct object_search *search; /* the caller's; NULL */
	struct debug_lines **lines;         /* [module_count], made when first needed */
	Elf *machine;                       /* an empty file of it */
	void *known_lines;                  /* tsearch(3): what was looked up */
	void *statics;                      /* tsearch(3): of units */
	struct snapshot_image *images;      /* [module_count] */
};

/* user_regs_struct, 27 words, as both NT_PRSTATUS and PTRACE_GETREGS have it -> by DWARF number. */
enum {
	SNAPSHOT_USER_WORDS = 27,
	SNAPSHOT_USER_FS_BASE = 21,
	SNAPSHOT_USER_ORIG_RAX = 15,
};
void snapshot_take_registers(const uint64_t user[SNAPSHOT_USER_WORDS], uint64_t ret[SNAPSHOT_REGISTERS]);

/* Adds a note; text is printf's. */
struct error *snapshot_note(struct snapshot *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct error *snapshot_read_core(const char *path, struct snapshot *s);
struct error *snapshot_seize(pid_t pid, struct snapshot *s);
void snapshot_release(struct snapshot *s);

/* The last segment that starts at or below the address; NULL: none. */
const struct snapshot_segment *snapshot_segment_below(const struct snapshot_source *source, uint64_t address);

/* How many bytes at address are in the core or in the process's memory, at most len_bytes; they are copied. */
size_t snapshot_memory(const struct snapshot_source *source, uint64_t address, void *ret, size_t len_bytes);
size_t snapshot_core_memory(const struct snapshot_source *source, uint64_t address, void *ret, size_t len_bytes);
size_t snapshot_live_memory(const struct snapshot_source *source, uint64_t address, void *ret, size_t len_bytes);
/* Reads memory from the files of modules, where they are mapped read-only. */
size_t snapshot_file_memory(const struct snapshot *s, uint64_t address, void *ret, size_t len_bytes);

/* Mappings -> modules, each with its file, reported to libdwfl. */
struct error *snapshot_find_modules(struct snapshot *s, const struct snapshot_options *options);
void snapshot_free_modules(struct snapshot *s);
/* Index of the module at the address; UINT32_MAX: none. */
uint32_t snapshot_module_at(const struct snapshot *s, uint64_t address);

/* Threads with their frames. */
struct error *snapshot_walk(struct snapshot *s, uint32_t frame_limit);

/* Entries of the debug information. */
enum {
	SNAPSHOT_SCOPES_MAX = 128,
};
struct snapshot_scopes {
	Dwarf_Die unit;     /* lines */
	Dwarf_Die contents; /* functions; of a split unit another one */
	Dwarf_Die dies
		[SNAPSHOT_SCOPES_MAX]; /* outermost first: the function, its blocks, what was inlined, blocks of that */
	uint32_t count;                /* 0: there is no debug information */
	uint64_t bias;                 /* of addresses there */
};
/* Those that a frame's pc is in. */
struct error *snapshot_find_scopes(struct snapshot *s, const struct snapshot_frame *frame, struct snapshot_scopes *ret);
/* Calls visit for each unit of a module until it returns false. */
struct error *snapshot_each_unit(struct snapshot *s, uint32_t module, bool (*visit)(void *data, Dwarf_Die *contents),
				 void *data);

/* Variables of a unit that are in no function, also in namespaces. */
struct snapshot_static {
	const char *name;
	Dwarf_Die die;
	bool is_declaration;
	bool is_external;
};
/* Those of a name; all of the unit are found once, and live as long as s. */
struct error *snapshot_find_statics(struct snapshot *s, Dwarf_Die *contents, const char *(*name_of)(Dwarf_Die *die),
				    const char *name, const struct snapshot_static **ret, uint32_t *ret_count);

/* For lines.c's index. */
void snapshot_free_lines(struct snapshot *s);
/* For statics.c's. */
void snapshot_free_statics(struct snapshot *s);

#endif
