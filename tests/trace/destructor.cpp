/* abort() in a destructor while an exception unwinds through its frame: the unwinder's frames stand between traced ones. */
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static int opened;

struct file {
	int number;
	bool dirty;
	explicit file(int number) : number(number), dirty(number % 3 == 0)
	{
		opened++;
	}
	__attribute__((noinline)) ~file()
	{
		if (dirty)
			flush();
		opened--;
	}
	void flush()
	{
		for (int i = 0; i < number; i++)
			if (opened < i)
				abort();
	}
};

__attribute__((noinline)) static int write_all(int count)
{
	std::vector<int> sizes;
	for (int i = 0; i < count; i++) {
		file f(i);
		sizes.push_back(i);
		if (i == 7)
			throw std::runtime_error(std::to_string(sizes.size()));
	}
	return int(sizes.size());
}

__attribute__((noinline)) static int attempt(int count)
{
	file log(9);
	try {
		file f(count + 1 - count);
		return write_all(count);
	} catch (const std::logic_error &) {
		return -1;
	}
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 9; i++)
		try {
			sum += attempt(i);
		} catch (const std::exception &e) {
			sum += e.what()[0];
		}
	return sum;
}
