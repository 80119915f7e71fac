/*
 * cc_options.h - the options of `waymark cc` that are not clang's, and the environment variables that hand them to the pass
 * inside the clang and the linker that it starts:
 *
 *      WAYMARK_CONTEXTS=1            contexts are wanted
 *      WAYMARK_EVENTS=LIST           --wm-events; empty: none; not set: all
 *      WAYMARK_HYBRID=FILE           sizes of frames for a hybrid encoding (cc_hybrid.h); not set: there is none
 *      WAYMARK_PATHS=source|final    paths are counted, at that stage; not set: they are not
 *      WAYMARK_PATHS_ARRAY=N         --wm-path-array
 *      WAYMARK_PATHS_HASH=KIND       --wm-path-hash
 *      WAYMARK_PATHS_PLAN=FILE       --wm-plan, absolute
 *      WAYMARK_TRACE=source|final    functions are traced, at that stage
 *      WAYMARK_TRACE_RULES=RULES     what follows --wm=trace=; a file's name is absolute
 *      WAYMARK_TRACE_RING=N          --wm-trace-paths
 *      WAYMARK_THIN_OBJECT=1         the object that is compiled gets no machine code
 *      WAYMARK_TRACE_UNITS=1         source stage, under link-time optimization
 */
#ifndef WM_CLI_CC_OPTIONS_H
#define WM_CLI_CC_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "cli/cc_request.h"
#include "cli/options.h"

struct cc_options {
	bool contexts;
	const char *events; /* words and names; NULL: all, empty: none */
	bool is_hybrid;     /* the offset of the stack tells contexts apart, too */
	bool thin_objects;  /* objects hold no machine code, where cc_request_object() has a choice */
	bool no_recorder;   /* the program has none, if it needs none itself */
	bool paths;
	bool is_final; /* paths at the final stage */
	bool trace;
	bool traces_source;  /* trace at the source stage */
	char *rules;         /* of trace, or NULL */
	const char *ring;    /* digits, or NULL */
	const char *array;   /* digits, or NULL */
	const char *hash;    /* "inline", "call" or NULL */
	char plan[PATH_MAX]; /* empty: none */
};

extern const struct option_row cc_option_rows[]; /* of struct cc_options */

/* Starts with "--wm": not to be handed on to clang. */
bool cc_options_is_own(const char *word);

/* Later options win, as clang's do. ERROR_ARGUMENT, or ERROR_OS for a plan that cannot be read. */
struct error *cc_options_read(char *const *words, int count, struct cc_options *ret);
void cc_options_deinit(struct cc_options *options);

/* Sets and clears the variables above for the processes started from here. */
void cc_options_export(const struct cc_options *options, const struct cc_request *request);
/* Clears them. */
void cc_options_clear_environment(void);

/* The pass runs in clang, on the code as written. */
static inline bool cc_options_at_source(const struct cc_options *options)
{
	return (options->paths && !options->is_final) || (options->trace && options->traces_source);
}

/* The optimized code is counted or traced. */
static inline bool cc_options_at_final(const struct cc_options *options)
{
	return (options->paths && options->is_final) || (options->trace && !options->traces_source);
}

/* The pass runs in the linker, on the whole program. */
static inline bool cc_options_at_link(const struct cc_options *options)
{
	return options->contexts || cc_options_at_final(options);
}

/* The program records something: it needs the runtime. What is traced stays in its memory. */
static inline bool cc_options_record(const struct cc_options *options)
{
	return options->contexts || options->paths;
}

#endif
