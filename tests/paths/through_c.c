/* through_c.c - C frames of through.cpp, compiled with -fexceptions. */
int c_calls(int (*f)(int), int n);
int c_cleans(int (*f)(int), int n);
static int cleaned;

static void clean(const int *n)
{
	if (*n & 1)
		cleaned++;
	else
		cleaned += 2;
}

int c_calls(int (*f)(int), int n)
{
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += f(n + i);
	return sum;
}

int c_cleans(int (*f)(int), int n)
{
	__attribute__((cleanup(clean))) int kept = n;
	while (kept < n + 5)
		kept += f(kept) ? 1 : 2;
	return cleaned;
}
