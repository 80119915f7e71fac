/* plugins_part.c - the library of plugins.c. */
int part(int n);

static int helper(int n)
{
	return n > 2 ? n * 2 : n + 1;
}

__attribute__((constructor)) static void loaded(void)
{
	helper(1);
}
__attribute__((destructor)) static void unloaded(void)
{
	helper(5);
}

__attribute__((visibility("default"))) int part(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += helper(i);
	return s;
}
