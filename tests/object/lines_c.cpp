/* lines_c.cpp - templates, lambdas and a local class, whose functions are inlined deeply. */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
namespace shop
{
struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};
template <typename T> struct box final : shape {
	T a, b;
	box(T a, T b) : a(a), b(b)
	{
	}
	double area() const override
	{
		return double(a * b);
	}
};
template <typename F> auto twice(F f)
{
	return [f](auto v) { return f(f(v)); };
}
static std::map<std::string, std::vector<int>> index_of(const std::vector<std::string> &words)
{
	std::map<std::string, std::vector<int>> m;
	int i = 0;
	for (auto &w : words)
		m[w].push_back(i++);
	return m;
}
static double total(const std::vector<std::unique_ptr<shape>> &shapes)
{
	double t = 0;
	std::for_each(shapes.begin(), shapes.end(),
		      [&](const auto &s) { t += twice([](double v) { return v + 1; })(s->area()); });
	return t;
}
} // namespace shop
int main(int argc, char **argv)
{
	std::vector<std::string> words(argv, argv + argc);
	words.emplace_back("x");
	std::sort(words.begin(), words.end(), std::greater<>());
	std::vector<std::unique_ptr<shop::shape>> shapes;
	shapes.push_back(std::make_unique<shop::box<int>>(argc, 2));
	shapes.push_back(std::make_unique<shop::box<double>>(argc, 2.5));
	struct local {
		static int f(int n)
		{
			std::vector<int> v(n);
			return (int)std::count(v.begin(), v.end(), 0);
		}
	};
	try {
		for (auto &[w, at] : shop::index_of(words))
			std::cout << w << at.size() << at.at(argc - 1) << "\n";
	} catch (const std::out_of_range &e) {
		std::ostringstream s;
		s << e.what();
		std::cout << s.str();
	}
	std::function<int(int)> f = [&](int n) { return n ? f(n - 1) + int(words.size()) : local::f(3); };
	std::cout << shop::total(shapes) << f(3) << "\n";
}
