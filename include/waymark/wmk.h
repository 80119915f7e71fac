/*
 * wmk.h - layout of the .wmk file, as the runtime writes it through shared mappings. Little-endian. docs/format.md is
 * normative; readers (src/format/wmk.c) go through a cursor and never overlay these structs.
 *
 *      0 .----------------.
 *        | header         |  one page
 *   4096 |----------------|
 *        | chunk 0        |  one or more pages: a 64-byte chunk header, then records of one kind
 *        |----------------|
 *        | chunk 1 ...    |
 *        '----------------'
 *
 * A record is whole when its `state` is 1; it is stored last (release). State 0 is a record whose writer was killed or is
 * still at it: readers pass over it and count it. 2 is a place given up (a race was lost). Nothing is ever moved.
 */
#ifndef WAYMARK_WMK_H
#define WAYMARK_WMK_H

#include <stdint.h>

#define WMK_MAGIC "\x89WMK\r\n\x1a\n" /* 8 bytes */
enum {
	WMK_VERSION = 4,
	WMK_VERSION_HEAP = 4,   /* whose heap is read: it has sizes and life times of blocks */
	WMK_VERSION_PEAK = 3,   /* since then the header has the live bytes beside the peak */
	WMK_VERSION_OLDEST = 1, /* that is read, too: all of its chunks are of 65536 bytes or a multiple of that */
	WMK_HEADER_BYTES = 4096,
	WMK_UNIT_BYTES = 4096,   /* chunk_bytes of what a process writes: the lengths of chunks are multiples of that */
	WMK_CHUNK_BYTES = 65536, /* chunk_bytes of merged files and of version 1 */
	WMK_CHUNK_HEADER_BYTES = 64,
	WMK_CHUNK_MAGIC = 0x4b434d57, /* "WMCK" */
	WMK_PROGRAM_BYTES = 1024,
	WMK_LABELS_OFF =
		2048, /* in the first page, behind struct wmk_header: "KEY=VALUE", each with a NUL, then one more NUL */
	WMK_LABELS_BYTES = 2048,
};

enum wmk_kind {
	WMK_IMAGES = 1,
	WMK_NODES = 2,   /* interned prefixes: record i of the chunk is prefix number first + i */
	WMK_STRINGS = 3, /* event names, paths: a string's number is its offset: first + offset in the chunk's body */
	WMK_EVENTS = 4,  /* one thread's events in order */
	WMK_HEAP = 5,    /* one record a context, updated in place */
	WMK_PATHS = 6,   /* tables of path counters, of one function and one thread each, updated in place */
	WMK_PATH_COUNTS = 7, /* counts of single paths that are in no table */
	WMK_RUNS = 8,        /* WMK_FLAG_MERGED: the recordings that were added up */
	/* recorded code: images whose kind is not WMK_IMAGE_SECTION */
	WMK_FUNCTIONS = 9, /* record i of the chunk is function number first + i */
	WMK_SITES = 10,    /* record i of the chunk is site number first + i of the process */
	WMK_LINES = 11,
	WMK_EPOCHS = 12, /* one record an epoch whose dictionary is complete */
	WMK_EPOCH_FUNCTIONS = 13,
	WMK_EPOCH_EDGES = 14,
	WMK_THREADS = 15,    /* names of threads */
	WMK_HEAP_TIMES = 16, /* the time line of the heap, the last record updated in place */
	WMK_SUMS = 17,       /* events that were added up by context; of a process: by context and time */
	WMK_HEAP_SUMS = 18,  /* heap records that were added up, of many recordings */
	WMK_KIND_END,
};

enum wmk_flag {
	WMK_FLAG_HEAP = 1 << 0,   /* recorded under the heap client */
	WMK_FLAG_CLOSED = 1 << 1, /* the process ended through exit() */
	WMK_FLAG_MERGED = 1 << 2, /* made by `waymark merge` */
	WMK_FLAG_LEFT =
		1 << 3, /* the process ended through _exit(), _Exit(), quick_exit() or syscall(SYS_exit_group) */
	WMK_FLAG_DETACHED = 1 << 4, /* the agent was taken out of the process, which went on */
	WMK_FLAG_LOST = 1 << 6,     /* the file was truncated, or its pages failed, while it was recorded */
	WMK_FLAG_FILTERED = 1 << 5, /* the process asked for a seccomp filter, and went on unrecorded */
};

enum wmk_drop {
	WMK_DROP_LIMIT = 27,       /* WAYMARK_LIMIT was reached (EFBIG) */
	WMK_DROP_FILE_SIZE = 4096, /* the process's RLIMIT_FSIZE was reached; no errno value is so large */
};

/* The state of an agent that was to encode the process's code, and why it did not start. */
#define WMK_AGENT_STATES(X)                                                              \
	X(OK, "it runs, or none was to come")                                            \
	X(NOT_BEGUN, "main was not called through the C library, as Go programs do not") \
	X(NO_MEMORY, "there is not enough memory")                                       \
	X(NO_ROOM, "the limit on address space is too low (ulimit -v): it needs 800 MB") \
	X(NO_WRITING, "/proc/self/mem cannot be written")                                \
	X(NO_RECORDING, "the recording has no room for its tables")                      \
	X(NO_TIMER, "the kernel gives no timer for samples (ulimit -i)")                 \
	X(EARLIER, "an earlier waymark cc built it: build it again")

enum wmk_agent {
#define WMK_AGENT_STATE(name, text) WMK_AGENT_##name,
	WMK_AGENT_STATES(WMK_AGENT_STATE)
#undef WMK_AGENT_STATE
	WMK_AGENT_END,
};

/*
 * Whether records of the heap tell to which live blocks no pointer was found when the process ended (waymark run --leaks), and why not. THREADS: the
 * others could be reached, but of these it is not told.
 */
#define WMK_REACH_STATES(X)                                                                              \
	X(NOT_ASKED, "it was not asked for (waymark run --leaks), or the process was not at its end")    \
	X(TOLD, "")                                                                                      \
	X(THREADS, "other threads were running, which may have had pointers to them in their registers") \
	X(NOT_ALL, "only some allocations are recorded, and pointers may have been in the others")       \
	X(NO_MEMORY, "there was not enough memory to look for pointers")                                 \
	X(NO_READING, "the process could not read its memory through /proc/self/mem")

enum wmk_reach {
#define WMK_REACH_STATE(name, text) WMK_REACH_##name,
	WMK_REACH_STATES(WMK_REACH_STATE)
#undef WMK_REACH_STATE
	WMK_REACH_END,
};

struct wmk_header {
	char magic[8];
	uint32_t version;
	uint32_t chunk_bytes; /* WMK_UNIT_BYTES or WMK_CHUNK_BYTES: the unit of chunk_count and of spans */
	uint64_t run;         /* random, names this process in tokens */
	uint64_t parent_run;  /* of the process that forked this one, 0 if none recorded */
	uint32_t pid;
	uint32_t flags;
	uint32_t chunk_count; /* units whose space is allocated to chunks; grows */
	uint32_t zero;
	uint64_t start_realtime_ns;
	uint64_t start_monotonic_ns; /* event times are of this clock */
	uint64_t limit_bytes;        /* WAYMARK_LIMIT */
	/* what could not be recorded, counted */
	uint64_t dropped_events;
	uint64_t dropped_prefixes;
	uint64_t dropped_heap_calls; /* calls whose context got no record; their numbers are in the record of WM_PREFIX_LOST */
	uint64_t drop_errno;         /* why the first of them: an errno value, or of enum wmk_drop */
	/* heap client: the whole process */
	uint64_t heap_unknown_frees;     /* frees of blocks whose allocation it did not see */
	uint64_t heap_live_bytes;        /* at a multiple of 16, with the next: one instruction writes both */
	uint64_t heap_peak_bytes;        /* largest heap_live_bytes */
	char program[WMK_PROGRAM_BYTES]; /* /proc/self/exe, NUL-terminated */
	uint64_t dropped_path_tables;    /* tables that found no room: what was counted in them is lost */
	uint64_t dropped_paths;          /* counts of single paths that found no room */
	uint64_t merged_runs;            /* WMK_FLAG_MERGED: how many recordings were added up */
	uint64_t dropped_code;           /* records of recorded code that found no room: nothing came after the first */
	/* CPU samples of an agent */
	uint64_t samples;
	uint64_t samples_unknown;   /* whose context was not found: they are in no event */
	uint64_t samples_in_agent;  /* the agent itself ran: no samples */
	uint64_t samples_checked;   /* compared with the stack */
	uint64_t samples_agreed;    /* of those */
	uint64_t samples_unchecked; /* no whole stack to compare with */
	uint64_t lost_children; /* forked from this process or its children that have no file, and could make none themselves */
	uint64_t session; /* of the `waymark run` that started this process, or one of which it descends (waymark/run.h); 0: none */
	uint32_t session_pid;      /* its process */
	uint32_t agent;            /* enum wmk_agent */
	uint64_t missed_programs;  /* that it or a child of it started, and into which its agent could not come */
	uint64_t sample_period_ns; /* of samples whose value is a time in ns; 0: their value is 1 */
	uint64_t samples_cut;      /* whose walk of the stack ended before its outermost frame */
	uint64_t samples_guessed;  /* that have frames which call frame information did not find */
	uint64_t wall_period_ns; /* from one look at a thread to the next; the values of wall and off-cpu are times in ns then */
	uint64_t wall_samples; /* walks of threads that were looked at so; samples_cut and samples_guessed have theirs, too */
	uint64_t heap_interval_bytes; /* one allocation for about so many bytes was recorded: numbers of the heap are estimates; 0: every one */
	uint64_t heap_cut; /* allocations that were recorded, whose walk of the stack ended before its outermost frame */
	uint64_t heap_guessed;        /* that have frames which call frame information did not find */
	uint64_t replaced_children;   /* forked from this process, that soon became other programs and left no file */
	uint64_t replaced_heap_calls; /* allocations that they had made */
	uint64_t recycled_chunks;     /* of events, whose space later records have: their events are in sums */
	uint64_t heap_reach;          /* enum wmk_reach */
};

struct wmk_chunk_header {
	uint32_t magic;
	uint32_t kind;
	uint32_t used_bytes; /* of the body; may pass its size when the last claim did not fit: clamp */
	uint32_t tid;        /* WMK_EVENTS: the thread; else 0 */
	uint64_t first;
	uint32_t span; /* units of chunk_bytes that the chunk has; 0 means 1 */
	uint8_t zero[36];
};

enum wmk_image_kind {
	WMK_IMAGE_SECTION = 0, /* an ELF file whose .debug_waymark has its sites and its encoding */
	/* recorded code: functions, sites and the encoding of each epoch are records of this file */
	WMK_IMAGE_BINARY = 1, /* an ELF file without that section */
	WMK_IMAGE_CODE = 2,   /* code that was made at run time */
	WMK_IMAGE_LOADER = 3, /* a class loader of a virtual machine: functions are methods */
	WMK_IMAGE_KIND_END,
};

/* An optional string that is not there. */
#define WMK_NO_STRING UINT32_MAX

struct wmk_image { /* 96 bytes */
	uint64_t meta_key;
	uint64_t load_address; /* of its ELF header */
	uint32_t site_base;
	uint32_t site_count;
	uint64_t path; /* string number */
	uint8_t build_id[32];
	uint32_t build_id_bytes; /* 0: the image has none */
	uint32_t kind;           /* enum wmk_image_kind */
	uint32_t zero[5];
	uint32_t state;
};

struct wmk_node { /* 32 bytes */
	uint64_t id;
	uint32_t parent; /* a prefix number */
	uint32_t site;
	uint32_t run;   /* at least 1 */
	uint32_t epoch; /* that id is of: parts of a chain may be of different ones */
	uint32_t zero;
	uint32_t state;
};

struct wmk_string { /* then len_bytes bytes, padded to 8 */
	uint32_t len_bytes;
	uint32_t state;
};

struct wmk_event { /* 48 bytes */
	uint64_t time_ns;
	uint64_t value;
	uint64_t id;
	uint32_t prefix;
	uint32_t site;
	uint32_t name; /* string number */
	uint32_t epoch;
	uint32_t tid;
	uint32_t state;
};

struct wmk_thread {       /* 24 bytes */
	uint64_t time_ns; /* from here on, until another record of this tid */
	uint32_t tid;
	uint32_t name; /* string number */
	uint32_t zero;
	uint32_t state;
};

enum {
	WMK_LIVES = 16,
	WMK_SIZE_MIXED = UINT32_MAX, /* size_class: blocks of any size */
};

/*
 * A context has one record for each size class of its blocks: floor(log2(size)), and 0 for blocks without bytes, too.
 *
 * lives: by life time, in allocations of the process between the block's own and its free. lives[0] are blocks that were freed before the next
 * allocation, lives[i] those that lived for 4^(i-1) to 4^i - 1, the last one for more, too. Where allocations are sampled, life times are not known,
 * and lives[0] has all.
 *
 * at_peak_bytes are the live bytes of the record when those of the process were the most, if at_peak_of is heap_peak_bytes of the header. Else
 * nothing of the record was allocated or freed since then, and its live bytes are what they were. Both lie at a multiple of 16 in the file: one
 * instruction writes them.
 *
 * What most calls change or compare lies in the first 64 bytes.
 */
struct wmk_heap { /* 256 bytes */
	uint64_t id;
	uint32_t prefix;
	uint32_t site;
	/* of blocks that this process allocated */
	uint64_t count; /* allocations; a realloc is a free and an allocation */
	uint64_t bytes; /* as asked for */
	uint64_t freed_bytes;
	uint32_t epoch;
	uint32_t size_class;
	uint64_t at_peak_bytes;    /* inherited blocks included */
	uint64_t at_peak_of;       /* heap_peak_bytes when at_peak_bytes was stored */
	uint64_t lives[WMK_LIVES]; /* of those of `count` that were freed: how many lived that long */
	uint64_t temporary_count; /* blocks of `count` that the next call of their thread freed; 0 where allocations are sampled */
	/* of blocks that were live when this process was forked: its parent's recording counts their allocation */
	uint64_t inherited_count;
	uint64_t inherited_bytes;
	uint64_t inherited_freed_count; /* by this process */
	uint64_t inherited_freed_bytes;
	/* of those of `count` that were live at the end, to which no pointer was found (heap_reach of the header) */
	uint64_t unreached_count;
	uint64_t unreached_bytes;
	uint32_t zero;
	uint32_t state;
};

/* From the time of the record before it up to time_ns, the live bytes of the process were between low_bytes and high_bytes, each a 64th more or less
 * (WMK_HEAP_STEP_MIN bytes, if those are more). */
struct wmk_heap_time {       /* 40 bytes */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t live_bytes; /* at that time */
	uint64_t low_bytes;
	uint64_t high_bytes;
	uint32_t zero;
	uint32_t state;
};

enum {
	WMK_HEAP_STEP_MIN = 1024,
};

/* Events with one name in one context. Numbers change in place. */
struct wmk_sum {           /* 64 bytes */
	uint64_t start_ns; /* CLOCK_MONOTONIC: not before; in a merged file 0 */
	uint64_t end_ns;   /* not after */
	uint64_t count;
	uint64_t value; /* sum of their values */
	uint64_t id;
	uint32_t prefix;
	uint32_t site;
	uint32_t name; /* string number */
	uint32_t epoch;
	uint32_t tid; /* 0: of several */
	uint32_t state;
};

enum wmk_heap_sum_flag {
	WMK_HEAP_SUM_ENDED = 1 << 0, /* of processes that ended by themselves: what they had not freed is leaked */
};

/* A context has one of each value of flags and size_class. Its numbers are sums of those in struct wmk_heap. */
struct wmk_heap_sum { /* 272 bytes */
	uint64_t id;
	uint32_t prefix;
	uint32_t site;
	uint64_t count;
	uint64_t bytes;
	uint64_t freed_count;
	uint64_t freed_bytes;
	uint64_t at_peak_bytes; /* of each process at its own peak */
	uint64_t inherited_count;
	uint64_t inherited_bytes;
	uint64_t inherited_freed_count;
	uint64_t inherited_freed_bytes;
	uint64_t temporary_count;
	/* of blocks that were live at the end, in processes where that was told */
	uint64_t reachable_count;
	uint64_t reachable_bytes;
	uint64_t lost_count;
	uint64_t lost_bytes;
	uint64_t lives[WMK_LIVES]; /* of processes whose allocations were not sampled */
	uint32_t epoch;
	uint32_t flags;
	uint32_t size_class;
	uint32_t state;
};

enum wmk_paths_flag {
	/* A frozen copy of what the thread that forked had counted in the parent when this process began: the activations
	 * that were begun there and had not ended go on here. Counts nothing itself. */
	WMK_PATHS_INHERITED = 1 << 0,
	/* wm1_path_flag's AT_ENTRY */
	WMK_PATHS_AT_ENTRY = 1 << 1,
	/* PATH_COUNTS: outside the plan */
	WMK_PATHS_RESIDUAL = 1 << 2,
};

/*
 * One table (waymark/paths.h): this, then word 0 and 1, then the entries: 64 + 16 + 8 or 16 * entry_count bytes, rounded up to
 * a multiple of 16. Tables begin at multiples of 16 in the body, with holes of zeros between them: where both keys or the kind
 * are 0, readers go on 16 bytes further. `kind` is stored behind the keys, entry_count behind it, the state last.
 */
struct wmk_paths {
	uint64_t name_key;
	uint64_t cfg_key;
	uint64_t path_count;
	uint32_t image; /* record number of its image: the first record of the first IMAGES chunk of the file is 0.
			 * UINT32_MAX: not known */
	uint8_t kind;   /* enum wm1_path_kind */
	uint8_t bits;
	uint16_t flags;
	uint32_t entry_count;
	uint32_t zero[6];
	uint32_t state;
};

/* The counts of one path of one function (summed with any others of the same). 72 bytes. Kind 0: nothing is there. */
struct wmk_path_count {
	uint64_t name_key;
	uint64_t cfg_key;
	uint64_t path_count;
	uint64_t r;     /* as in the table: Ball-Larus number (ARRAY), that + 1 (HASH), packed (PLAN) */
	uint64_t count; /* changes in place */
	uint64_t id;    /* calling context of a residual path; prefix 0: not recorded */
	uint32_t prefix;
	uint32_t site;
	uint32_t image;
	uint8_t kind;
	uint8_t bits;
	uint16_t flags;
	uint32_t epoch; /* of id */
	uint32_t state;
};

struct wmk_run { /* 16 bytes */
	uint64_t run;
	uint32_t zero;
	uint32_t state;
};

/*
 * Recorded code. The process appends these records while it runs, each after those it refers to. The record in EPOCHS commits
 * the dictionary of its epoch; functions and calls that push may be added to it later.
 */
enum wmk_function_flag {
	WMK_FUNCTION_EXPORTED = 1 << 1, /* other images may call it by its name */
};

struct wmk_function {     /* 48 bytes */
	uint64_t address; /* of its first byte less load_address; of a method 0 */
	uint32_t image;   /* record number */
	uint32_t name;    /* string number, or WMK_NO_STRING: module+offset is all there is */
	uint32_t owner;   /* its class */
	uint32_t descriptor;
	uint32_t file;
	uint32_t line; /* where it is defined; 0: not known */
	uint32_t flags;
	uint32_t zero[2];
	uint32_t state;
};

/* Numbers as in .debug_waymark. How a call is encoded is in the dictionary of each epoch. */
enum wmk_site_kind {
	WMK_SITE_CALL = 0,     /* a call, direct or not, whose callees are all in the dictionaries */
	WMK_SITE_INDIRECT = 3, /* a call that may have further callees: roots */
	WMK_SITE_FOREIGN = 4,  /* a call of code that is not recorded: name */
	WMK_SITE_CAPTURE = 6,  /* no call is in progress */
	WMK_SITE_ENTRY =
		7, /* no call: the function was entered with an id of the push's epoch, and begins anew above */
};

enum wmk_site_flag {
	WMK_SITE_TAIL = 1 << 0, /* the caller's frame is gone while the callee runs */
	WMK_SITE_SELF =
		1 << 1, /* FOREIGN: no call; the function itself is what is not recorded. It has no name of its own */
};

struct wmk_site {          /* 32 bytes */
	uint32_t function; /* the caller: function number */
	uint32_t kind;
	uint32_t name;     /* string number; FOREIGN: the callee; INDIRECT: the declared one, or WMK_NO_STRING */
	uint32_t position; /* bytecode index, or offset from the function's address */
	uint32_t line;     /* 0: as the table of lines says */
	uint32_t flags;
	uint32_t zero;
	uint32_t state;
};

/* From this position on, to the next record's of the same function. */
struct wmk_line { /* 16 bytes */
	uint32_t function;
	uint32_t position;
	uint32_t line; /* 0: none */
	uint32_t state;
};

struct wmk_epoch {         /* 32 bytes */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint32_t epoch;
	uint32_t function_count; /* whole records of this epoch that it has at least */
	uint32_t edge_count;
	uint32_t base;  /* the epoch whose dictionary the records of this one change; 0: none, they are all */
	uint32_t flags; /* enum wmk_epoch_flag */
	uint32_t state;
};

enum wmk_epoch_flag {
	WMK_EPOCH_RANKS = 1 << 0, /* addends are ranks, from which all numbers follow; that of a function are 0 */
};

/* Bits as in .debug_waymark. */
enum wmk_epoch_function_flag {
	WMK_EPOCH_ROOT = 1 << 0,
	WMK_EPOCH_HAS_DUMMY = 1 << 2,
};

struct wmk_epoch_function { /* 32 bytes */
	uint64_t contexts;  /* numCC */
	uint64_t restart;
	uint32_t epoch;
	uint32_t function;
	uint32_t flags;
	uint32_t state;
};

enum wmk_edge_kind {
	WMK_EDGE_ENCODED = 0,
	WMK_EDGE_BACK = 1, /* pushes */
	WMK_EDGE_CUT = 2,  /* pushes */
};

/* A site may have several, each with its addend. */
struct wmk_epoch_edge { /* 32 bytes */
	uint64_t addend;
	uint32_t epoch;
	uint32_t site;
	uint32_t callee; /* function number */
	uint32_t kind;
	uint32_t zero;
	uint32_t state;
};

#ifdef __cplusplus
#define WMK_ASSERT(size, type) static_assert(sizeof(type) == (size), #type)
#else
#define WMK_ASSERT(size, type) _Static_assert(sizeof(type) == (size), #type)
#endif
WMK_ASSERT(64, struct wmk_chunk_header);
WMK_ASSERT(96, struct wmk_image);
WMK_ASSERT(32, struct wmk_node);
WMK_ASSERT(8, struct wmk_string);
WMK_ASSERT(48, struct wmk_event);
WMK_ASSERT(24, struct wmk_thread);
WMK_ASSERT(256, struct wmk_heap);
WMK_ASSERT(40, struct wmk_heap_time);
WMK_ASSERT(64, struct wmk_sum);
WMK_ASSERT(272, struct wmk_heap_sum);
WMK_ASSERT(64, struct wmk_paths);
WMK_ASSERT(72, struct wmk_path_count);
WMK_ASSERT(16, struct wmk_run);
WMK_ASSERT(48, struct wmk_function);
WMK_ASSERT(32, struct wmk_site);
WMK_ASSERT(16, struct wmk_line);
WMK_ASSERT(32, struct wmk_epoch);
WMK_ASSERT(32, struct wmk_epoch_function);
WMK_ASSERT(32, struct wmk_epoch_edge);

#endif
