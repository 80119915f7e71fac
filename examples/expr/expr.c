/*
 * expr.c - a calculator that reads one expression or definition a line, and logs trouble with its calling context.
 *
 *     area(r) = 3.14159 * r ^ 2
 *     area(2) / (1 - 1)            prints inf, and a warning with a token that `waymark decode` turns into the call chain
 *
 * Recursive descent to a tree, then a walk over the tree; no precedence tables, no constant folding. Functions take one
 * argument. A definition may call itself: evaluation stops with an error at 200 calls.
 */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waymark.h>

enum {
	NAME_BYTES = 32,
	MAX_CALLS = 200,
};

enum kind {
	NUMBER,
	ARGUMENT, /* the parameter of the definition it stands in */
	NEGATE,
	BINARY,
	CALL,
};

struct node {
	enum kind kind;
	char sign;
	double number;
	char name[NAME_BYTES];
	struct node *left, *right;
};

struct definition {
	struct definition *next;
	char name[NAME_BYTES];
	char parameter[NAME_BYTES];
	struct node *body;
};

struct calculator {
	struct definition *definitions;
	const char *at;        /* what is still to be parsed */
	const char *parameter; /* of the definition being parsed, or NULL */
	unsigned line;
	unsigned calls; /* user-defined calls in progress */
	unsigned warnings;
};

/* One log line: what, where in the input, and how the program came here. */
static void warn(struct calculator *c, const char *what)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	fprintf(stderr, "line %u: %s [%s]\n", c->line, what, token);
	wm_event("warning", c->line);
	c->warnings++;
}

static struct node *node_create(enum kind kind, struct node *left, struct node *right)
{
	struct node *n = calloc(1, sizeof *n);

	if (!n) {
		perror("expr");
		exit(1);
	}
	n->kind = kind;
	n->left = left;
	n->right = right;
	return n;
}

static void node_destroy(struct node *n)
{
	if (!n)
		return;
	node_destroy(n->left);
	node_destroy(n->right);
	free(n);
}

static struct node *parse_sum(struct calculator *c);

static bool accept(struct calculator *c, char wanted)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
	if (*c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool parse_name(struct calculator *c, char name[NAME_BYTES])
{
	size_t len = 0;

	while (isspace((unsigned char)*c->at))
		c->at++;
	if (!isalpha((unsigned char)*c->at))
		return false;
	for (; isalnum((unsigned char)*c->at); c->at++) {
		if (len + 1 < NAME_BYTES)
			name[len++] = *c->at;
	}
	name[len] = '\0';
	return true;
}

static struct node *parse_primary(struct calculator *c)
{
	char name[NAME_BYTES], *end;
	struct node *n;

	if (accept(c, '(')) {
		n = parse_sum(c);
		if (!accept(c, ')'))
			warn(c, "missing )");
		return n;
	}
	if (accept(c, '-'))
		return node_create(NEGATE, parse_primary(c), NULL);
	if (parse_name(c, name)) {
		if (c->parameter && strcmp(name, c->parameter) == 0)
			return node_create(ARGUMENT, NULL, NULL);
		n = node_create(CALL, NULL, NULL);
		memcpy(n->name, name, sizeof name);
		if (accept(c, '(')) {
			n->left = parse_sum(c);
			if (!accept(c, ')'))
				warn(c, "missing )");
		}
		return n;
	}
	n = node_create(NUMBER, NULL, NULL);
	n->number = strtod(c->at, &end);
	if (end == c->at) {
		warn(c, "a number is missing");
		n->number = NAN;
	}
	c->at = end;
	return n;
}

static struct node *binary(char sign, struct node *left, struct node *right)
{
	struct node *n = node_create(BINARY, left, right);

	n->sign = sign;
	return n;
}

static struct node *parse_power(struct calculator *c)
{
	struct node *n = parse_primary(c);

	return accept(c, '^') ? binary('^', n, parse_power(c)) : n;
}

static struct node *parse_product(struct calculator *c)
{
	struct node *n = parse_power(c);

	for (;;) {
		if (accept(c, '*'))
			n = binary('*', n, parse_power(c));
		else if (accept(c, '/'))
			n = binary('/', n, parse_power(c));
		else
			return n;
	}
}

static struct node *parse_sum(struct calculator *c)
{
	struct node *n = parse_product(c);

	for (;;) {
		if (accept(c, '+'))
			n = binary('+', n, parse_product(c));
		else if (accept(c, '-'))
			n = binary('-', n, parse_product(c));
		else
			return n;
	}
}

static double evaluate(struct calculator *c, const struct node *n, double argument);

static double root(struct calculator *c, double x)
{
	if (x < 0)
		warn(c, "root of a negative number");
	return sqrt(x);
}

static double logarithm(struct calculator *c, double x)
{
	if (x <= 0)
		warn(c, "logarithm of a number that is not positive");
	return log(x);
}

static double absolute(struct calculator *c, double x)
{
	(void)c;
	return fabs(x);
}

static const struct builtin {
	const char *name;
	double (*function)(struct calculator *c, double x);
} builtins[] = {
	{"sqrt", root},
	{"log", logarithm},
	{"abs", absolute},
};

static double call(struct calculator *c, const struct node *n, double argument)
{
	double x = n->left ? evaluate(c, n->left, argument) : NAN;
	const struct definition *d;
	size_t i;

	for (d = c->definitions; d; d = d->next) {
		if (strcmp(d->name, n->name) != 0)
			continue;
		if (c->calls == MAX_CALLS) {
			warn(c, "too many calls inside calls");
			return NAN;
		}
		c->calls++;
		x = evaluate(c, d->body, x);
		c->calls--;
		return x;
	}
	for (i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
		if (strcmp(builtins[i].name, n->name) == 0)
			return builtins[i].function(c, x);
	}
	warn(c, "unknown name");
	return NAN;
}

static double divide(struct calculator *c, double x, double y)
{
	if (y == 0)
		warn(c, "division by zero");
	return x / y;
}

static double evaluate(struct calculator *c, const struct node *n, double argument)
{
	double x, y;

	switch (n->kind) {
	case NUMBER:
		return n->number;
	case ARGUMENT:
		return argument;
	case CALL:
		return call(c, n, argument);
	case NEGATE:
		return -evaluate(c, n->left, argument);
	case BINARY:
		break;
	}
	x = evaluate(c, n->left, argument);
	y = evaluate(c, n->right, argument);
	switch (n->sign) {
	case '+':
		return x + y;
	case '-':
		return x - y;
	case '*':
		return x * y;
	case '/':
		return divide(c, x, y);
	default:
		return pow(x, y);
	}
}

/* "name(parameter) = sum": true when the line is a definition. */
static bool define(struct calculator *c, const char *line)
{
	struct definition d = {0}, *kept;

	c->at = line;
	if (!parse_name(c, d.name) || !accept(c, '(') || !parse_name(c, d.parameter) || !accept(c, ')') ||
	    !accept(c, '='))
		return false;
	kept = malloc(sizeof *kept);
	if (!kept) {
		perror("expr");
		exit(1);
	}
	c->parameter = d.parameter;
	d.body = parse_sum(c);
	c->parameter = NULL;
	d.next = c->definitions;
	*kept = d;
	c->definitions = kept;
	return true;
}

static void do_line(struct calculator *c, const char *line)
{
	struct node *n;

	c->line++;
	c->at = line;
	if (accept(c, '\0') || accept(c, '#') || define(c, line))
		return;
	c->at = line;
	n = parse_sum(c);
	if (!accept(c, '\0'))
		warn(c, "something follows the expression");
	printf("%.10g\n", evaluate(c, n, NAN));
	node_destroy(n);
}

int main(void)
{
	struct calculator c = {0};
	struct definition *d;
	char line[1024];

	while (fgets(line, sizeof line, stdin))
		do_line(&c, line);
	while ((d = c.definitions)) {
		c.definitions = d->next;
		node_destroy(d->body);
		free(d);
	}
	return c.warnings ? 1 : 0;
}
