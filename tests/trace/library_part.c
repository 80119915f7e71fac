/* Part of library.c: the library. */
static const int items[] = {4, 8, 15, 16, 23, 42};

__attribute__((noinline)) static int one(int (*function)(const int *), int i)
{
	return i % 2 ? function(&items[i]) * 2 : function(&items[i]);
}

__attribute__((visibility("default"))) int each(int (*function)(const int *), int first);

int each(int (*function)(const int *), int first)
{
	int sum = 0;

	for (int i = first; i < 6; i++)
		if (i != 3)
			sum += one(function, i);
	return sum;
}
