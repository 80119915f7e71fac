/* The part of foreign.c that gcc compiles: nothing in it is instrumented. */
int gcc_apply(int (*f)(int), int n);
int gcc_calls_by_name(int n);
int gcc_leaf(int n);
int program_function(int n);

int gcc_apply(int (*f)(int), int n)
{
	return f(n) + f(n + 1);
}

int gcc_calls_by_name(int n)
{
	return program_function(n);
}

int gcc_leaf(int n)
{
	return n + 1;
}
