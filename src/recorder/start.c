/*
 * start.c - what the active instance does when the program (or the plugin that brought it) starts and when it exits.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "recorder/config.h"
#include "recorder/file.h"
#include "recorder/interpose.h"
#include "recorder/client.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "recorder/thread.h"

/* The one line this runtime may ever print: the user asked for a file and will not get it. */
static void complain(int error)
{
	char line[1024];
	struct wmrt_text text = {line, sizeof line, 0};
	const char *why = strerrordesc_np(-error);

	wmrt_text_add(&text, "waymark: WAYMARK_OUT is not usable (");
	wmrt_text_add(&text, wmrt_config()->pattern);
	wmrt_text_add(&text, "): ");
	wmrt_text_add(&text, why ? why : "unknown error");
	wmrt_text_add(&text, "; nothing will be recorded\n");
	if (wmrt_text_fits(&text))
		wmrt_sys3(SYS_write, 2, (long)line, (long)text.len);
}

__attribute__((constructor(101))) static void start(void)
{
	int error;

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
	if (wmrt_config()->is_out_set) {
		error = wmrt_config_check();
		if (error)
			complain(error);
	}
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->attach)
			(*c)->attach();
}

__attribute__((destructor(101))) static void finish(void)
{
	if (wmrt_is_active())
		wmrt_file_close(WMK_FLAG_CLOSED);
}
