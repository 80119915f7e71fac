/*
 * terminal.h - the screen of a terminal, drawn anew line by line, and keys without Enter. Plain sequences that every terminal since the VT100
 * has, but for the second screen of xterm, which others ignore.
 */
#ifndef WM_CLI_TERMINAL_H
#define WM_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	bool is_screen; /* standard output is one; else lines are printed one after the other */
	bool has_keys;  /* standard input is one */
	bool is_coloured;
	struct termios before;
	size_t rows, columns;
};

/* Takes the screen. terminal_close gives it back as it was; SIGINT, SIGTERM and SIGHUP end terminal_wait in between. */
void terminal_open(struct terminal *t);
void terminal_close(struct terminal *t);
/* Reads the size, which the user may have changed. */
void terminal_measure(struct terminal *t);
/* Draws the text, of which lines that are too long are cut, and lines that do not fit left out. */
void terminal_draw(const struct terminal *t, const char *text);

enum terminal_event {
	TERMINAL_TIME, /* the time has passed */
	TERMINAL_SIZE, /* the size has changed */
	TERMINAL_KEY,
	TERMINAL_END, /* a signal, or nobody types any more */
};

/* Waits for one of them. *ret: the key. */
enum terminal_event terminal_wait(const struct terminal *t, double seconds, char *ret);

#endif
