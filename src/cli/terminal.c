/* terminal.c - the screen by escape sequences, keys by poll. Signals are unblocked only while it waits. */
#include "cli/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/plain_text.h"
#include "cli/message.h"

enum {
	ROWS = 24, /* where the terminal does not tell */
	COLUMNS = 80,
};

/* Written by handlers. */
static volatile sig_atomic_t has_new_size, is_asked_to_end;

static sigset_t mask_before;
static struct sigaction actions_before[4];
static const int numbers[4] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number)
{
	if (number == SIGWINCH)
		has_new_size = 1;
	else
		is_asked_to_end = 1;
}

static void set_signals(void)
{
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t mask;

	has_new_size = is_asked_to_end = 0;
	sigemptyset(&mask);
	for (int i = 0; i < 4; i++) {
		sigaddset(&mask, numbers[i]);
		sigaction(numbers[i], &action, &actions_before[i]);
	}
	sigprocmask(SIG_BLOCK, &mask, &mask_before);
}

void terminal_measure(struct terminal *t)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		size = (struct winsize){0};
	t->rows = size.ws_row ? size.ws_row : ROWS;
	t->columns = size.ws_col ? size.ws_col : COLUMNS;
}

void terminal_open(struct terminal *t)
{
	struct termios raw;

	*t = (struct terminal){.is_screen = isatty(STDOUT_FILENO), .is_coloured = message_has_colour(stdout)};
	terminal_measure(t);
	set_signals();
	t->has_keys = t->is_screen && tcgetattr(STDIN_FILENO, &t->before) == 0;
	if (t->has_keys) {
		raw = t->before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	if (t->is_screen) {
		fputs("\033[?1049h\033[?25l", stdout);
		fflush(stdout);
	}
}

void terminal_close(struct terminal *t)
{
	if (t->is_screen) {
		fputs("\033[?25h\033[?1049l", stdout);
		fflush(stdout);
	}
	if (t->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
	for (int i = 0; i < 4; i++)
		sigaction(numbers[i], &actions_before[i], NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* The bytes of a line that fit into so many columns, of one each. Escape sequences for colours take none. */
static size_t fitting(const char *line, size_t len, size_t columns)
{
	size_t i = 0;

	while (i < len) {
		size_t step = plain_len(line + i);

		if (line[i] == '\033') {
			while (i < len && line[i] != 'm')
				i++;
			i++;
			continue;
		}
		if (!columns--)
			return i;
		i += step ? step : 1;
	}
	return len;
}

void terminal_draw(const struct terminal *t, const char *text)
{
	size_t row = 0;

	if (!t->is_screen) {
		fputs(text, stdout);
		fflush(stdout);
		return;
	}
	fputs("\033[H", stdout);
	for (; *text && row < t->rows; row++) {
		size_t len = strcspn(text, "\n");

		if (row)
			putc('\n', stdout);
		fwrite(text, 1, fitting(text, len, t->columns), stdout);
		fputs(t->is_coloured ? "\033[0m\033[K" : "\033[K", stdout);
		text += len + (text[len] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

enum terminal_event terminal_wait(const struct terminal *t, double seconds, char *ret)
{
	struct timespec timeout = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	struct pollfd input = {.fd = t->has_keys ? STDIN_FILENO : -1, .events = POLLIN};
	int ready = ppoll(&input, 1, &timeout, &mask_before);

	if (is_asked_to_end)
		return TERMINAL_END;
	if (has_new_size) {
		has_new_size = 0;
		return TERMINAL_SIZE;
	}
	if (ready <= 0)
		return TERMINAL_TIME;
	return read(STDIN_FILENO, ret, 1) == 1 ? TERMINAL_KEY : TERMINAL_END;
}
