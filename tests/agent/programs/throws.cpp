/* throws.cpp - landing pads in hot and cold parts, switches behind them, virtual tail calls. Ends with 0. */
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual unsigned int area(unsigned int n) const = 0;
	virtual unsigned int scaled(unsigned int n) const
	{
		return area(n * 3); // a virtual tail call
	}
};

struct square : shape {
	unsigned int area(unsigned int n) const override
	{
		if (n > 12)
			throw std::runtime_error("large " + std::to_string(n));
		return n * n;
	}
};

struct strip : shape {
	unsigned int area(unsigned int n) const override
	{
		switch (n % 8) {
		case 0:
			return n + 1;
		case 1:
			throw n;
		case 2:
			return n ^ 3;
		case 3:
			return n * 5;
		case 4:
			throw std::string("four");
		case 5:
			return n / 3;
		case 6:
			return n << 2;
		default:
			return 9;
		}
	}
};

__attribute__((noinline)) static unsigned int guarded(const shape &s, unsigned int n)
{
	std::string name = "shape " + std::to_string(n);

	try {
		return s.scaled(n) + static_cast<unsigned int>(name.size());
	} catch (const std::exception &e) {
		return static_cast<unsigned int>(std::string(e.what()).size());
	} catch (unsigned int thrown) {
		switch (thrown & 7) {
		case 0:
			return 5;
		case 1:
			return s.area(2);
		case 2:
			return 8;
		case 3:
			return s.area(3);
		case 5:
			return 1;
		}
		return 0;
	} catch (const std::string &text) {
		return static_cast<unsigned int>(text.size());
	}
}

int main()
{
	std::vector<std::unique_ptr<shape>> shapes;
	unsigned int sum = 0;

	shapes.push_back(std::make_unique<square>());
	shapes.push_back(std::make_unique<strip>());
	for (unsigned int i = 0; i < 12; i += 3)
		for (const auto &s : shapes) {
			sum = sum * 31 + guarded(*s, i);
			try {
				sum += s->area(i + 5);
			} catch (...) {
				sum++;
			}
		}
	return sum == 0;
}
