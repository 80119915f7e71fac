/*
 * start.c - what the active instance does when the program (or the plugin that brought it) starts and when it exits.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/interpose.h"
#include "recorder/client.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "recorder/thread.h"

/* The lines that this runtime may print: what the environment asks for cannot be had. */
static void complain(const char *const parts[])
{
	char line[1024];
	struct wmrt_text text = {line, sizeof line, 0};

	for (; *parts; parts++)
		wmrt_text_add(&text, *parts);
	if (wmrt_text_fits(&text))
		wmrt_sys3(SYS_write, 2, (long)line, (long)text.len);
}

static void check_config(void)
{
	const struct wmrt_config *config = wmrt_config();
	/* `waymark run` has looked before, and hears of a file that cannot be made. */
	int error = config->is_out_set && !wmrt_run_is_watched() ? wmrt_config_check() : 0;
	const char *why = error ? strerrordesc_np(-error) : NULL;

	if (error)
		complain((const char *const[]){"waymark: WAYMARK_OUT is not usable (", config->pattern, "): ",
					       why ? why : "unknown error", "; nothing will be recorded\n", NULL});
	if (config->bad_limit)
		complain((const char *const[]){"waymark: WAYMARK_LIMIT=", config->bad_limit,
					       ": a number of bytes is needed, with K, M or G behind it if wanted; ",
					       "the limit is 4G\n", NULL});
}

__attribute__((constructor(101))) static void start(void)
{
	if (!wmrt_is_active())
		return;
	wmrt_check_fork();
	wmrt_leave_start();
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->start)
			(*c)->start();
	if (wmrt_process.is_sealed)
		return;
	if (wmrt_gettid() == wmrt_getpid())
		wmrt_process.main_thread = &wmrt_local;
	check_config();
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->attach)
			(*c)->attach();
}

__attribute__((destructor(101))) static void finish(void)
{
	if (wmrt_is_active())
		wmrt_file_close(WMK_FLAG_CLOSED);
}
