/* The plain library of libraries.c, plugins.c: foreign code that calls back. */
typedef int function(int);
int plain_apply(function *f, int n);
int plain_calls_program(int n);
int plain_calls_one(int n);
int program_function(int n);
int one_leaf(int n);

int plain_apply(function *f, int n)
{
	return f(n) + 0 * n;
}

int plain_calls_program(int n)
{
	return program_function(n) + 1;
}

int plain_calls_one(int n)
{
	return one_leaf(n) + 1;
}
