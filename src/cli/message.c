/* message.c - messages of the subcommands; every one is one line, control characters from file names made harmless. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/message.h"

__attribute__((format(printf, 2, 0))) static void print_line(const char *command, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	if (text)
		plain_make(text);
	if (command)
		fprintf(stderr, "waymark %s: %s\n", command, text ? text : "not enough memory");
	else
		fprintf(stderr, "waymark: %s\n", text ? text : "not enough memory");
	free(text);
}

void message_warn(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(command, format, args);
	va_end(args);
}

int message_error(const char *command, struct error *err)
{
	if (!err)
		return STATUS_OK;
	message_warn(command, "%s", err->message);
	error_destroy(err);
	return STATUS_FAILED;
}

int message_usage(const char *command, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	message_warn(command, "%s; see waymark %s%s--help", text ? text : "wrong usage", command ? command : "",
		     command ? " " : "");
	free(text);
	return STATUS_USAGE;
}

int message_bad_option(const char *command, int result, char **argv)
{
	const char *arg = optind > 0 ? argv[optind - 1] : "?";

	if (result == ':')
		return message_usage(command, "option %s needs a value", arg);
	if (optopt && optopt < 128 && (arg[0] != '-' || arg[1] != '-'))
		return message_usage(command, "unknown option -%c", optopt);
	if (optopt)
		return message_usage(command, "option %s takes no value", arg);
	return message_usage(command, "unknown option %s", arg);
}

int message_help(const char *command, const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
		return message_error(command, error_os(errno, "cannot write to standard output"));
	return STATUS_OK;
}

bool message_has_colour(FILE *f)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no_color && *no_color)
		return false;
	return term && strcmp(term, "dumb") != 0 && isatty(fileno(f));
}
