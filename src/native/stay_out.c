/* stay_out.c - looks at what the process is before anything records in it. */
#include "native/stay_out.h"

#include <unistd.h>

#include "native/filtered.h"
#include "recorder/file.h"
#include "recorder/handlers.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/text.h"

static void say(const char *why)
{
	char line[320];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_char(&text, ' ');
	wmrt_text_add(&text, why);
	wmrt_text_add(&text, ": it is not recorded\n");
	wmrt_sys3(SYS_write, STDERR_FILENO, (long)text.data, (long)text.len);
}

bool stay_out(const char *unfit)
{
	if (unfit)
		say(unfit);
	else if (filtered_is_new())
		say("runs under a seccomp filter that was installed since `waymark run`");
	else
		return false;
	wmrt_handlers_stay_out();
	wmrt_seal();
	return true;
}
