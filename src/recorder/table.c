/* table.c - what of this copy of the recorder a sampler may use. */
#include "recorder/table.h"

#include "recorder/code.h"
#include "recorder/event.h"
#include "recorder/file.h"
#include "recorder/prefix_table.h"
#include "recorder/process.h"
#include "recorder/thread.h"
#include "recorder/token.h"

static void check_fork(void)
{
	wmrt_check_fork();
}

static void own_files(void)
{
	wmrt_local.has_own_files = true;
}

const struct wm1_recorder wmrt_recorder = {
	.check_fork = check_fork,
	.image = wmrt_code_image,
	.function = wmrt_code_function,
	.site = wmrt_code_site,
	.intern = wmrt_intern,
	.event = wmrt_event,
	.event_of = wmrt_event_of,
	.token = wmrt_token,
	.header = wmrt_file_header,
	.drop = wmrt_file_drop,
	.own_files = own_files,
};
