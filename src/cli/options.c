/* options.c - the loop over getopt_long. */
#include "cli/options.h"

#include <stdio.h>

#include "cli/message.h"

int options_parse(const struct options *options, void *state, int argc, char **argv)
{
	const char *letters = options->letters;
	char with_colon[64];
	int has_order = letters[0] == '+' || letters[0] == '-';
	int option;
	struct error *err = NULL;

	/* ':' tells a missing value from an unknown option */
	snprintf(with_colon, sizeof with_colon, "%.*s:h%s", has_order, letters, letters + has_order);
	opterr = 0;
	optind = 0;
	while (!err && (option = getopt_long(argc, argv, with_colon, options->long_options, NULL)) != -1) {
		if (option == 'h')
			return OPTIONS_HELP;
		if (option == '?' || option == ':')
			return message_bad_option(options->command, option, argv);
		err = options->set(state, option);
	}
	if (err && err->code == ERROR_ARGUMENT) {
		message_error(options->command, err);
		return STATUS_USAGE;
	}
	return message_error(options->command, err);
}
