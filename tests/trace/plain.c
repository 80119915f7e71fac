/* Functions of one path have no frame record, only their place: a crash with several of them on the stack. */
static int *volatile where;

__attribute__((noinline)) static int fetch(int i)
{
	return where[i];
}

__attribute__((noinline)) static int doubled(int i)
{
	return fetch(i) * 2;
}

__attribute__((noinline)) static int twice(int i)
{
	int a = doubled(i);
	int b = doubled(i + 1);
	return a + b;
}

int main(void)
{
	static int values[] = {1, 2, 3};

	where = values;
	int sum = twice(1);
	where = 0;
	return sum + twice(1);
}
