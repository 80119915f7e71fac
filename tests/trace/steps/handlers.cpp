/* Exceptions that nobody throws: what is behind a try block is come to round its handlers. */
#include <cstdlib>

static int used;

__attribute__((noinline)) static int risky(int k)
{
	if (k > 10)
		throw k;
	return k + used++;
}

__attribute__((noinline)) static int stepped(int k)
{
	int sum = 0;

	for (int i = 0; i < k; i++) {
		try {
			sum += risky(i);
		} catch (...) {
			sum--;
		}
		try {
			sum += risky(i);
			if (sum > 1000)
				break;
		} catch (int) {
			break;
		}
	}
	if (sum > 3)
		std::abort();
	return sum;
}

int main(int argc, char **)
{
	return stepped(argc + 3);
}
