/* commands.c - the table of subcommands. */
#include <string.h>

#include "cli/command.h"

const struct command *const commands[] = {
	&command_cc,       &command_cxx,
	&command_run,      &command_attach,
	&command_decode,   &command_top,
	&command_report,   &command_view,
	&command_annotate, &command_diff,
	&command_paths,    &command_residual,
	&command_merge,    &command_convert,
	&command_archive,  &command_core,
	&command_slice,    &command_tune,
	&command_ir,       &command_graph,
	&command_doctor,   NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			return *command;
	return NULL;
}
