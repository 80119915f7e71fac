/* Ends by an exception of the kind that its argument names. core_waits.sh */
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

struct own_error : std::out_of_range {
	int code = 7;
	explicit own_error(const std::string &text) : std::out_of_range(text)
	{
	}
};

struct silent_error : std::runtime_error {
	using std::runtime_error::runtime_error;
	const char *what() const noexcept override
	{
		return "never this";
	}
};

struct plain_error {
	int a = 3;
};

__attribute__((noinline)) static void stop(const char *kind)
{
	std::string text = std::string("bad ") + kind;

	switch (*kind) {
	case 'r':
		throw std::runtime_error(text);
	case 'o':
		throw own_error(text + std::string(300, 'x'));
	case 's':
		throw silent_error(text);
	case 'e':
		throw std::system_error(std::make_error_code(std::errc::no_such_process), "kill");
	case 'p':
		throw plain_error();
	case 'i':
		throw -12;
	case 't':
		throw "only text";
	case 'b':
		throw std::bad_alloc();
	default:
		break;
	}
}

__attribute__((noinline)) static void quiet(const char *kind) noexcept
{
	stop(kind);
}

int main(int, char **argv)
{
	if (*argv[1] == 'n')
		quiet("range");
	if (*argv[1] == 'h') {
		try {
			stop("range");
		} catch (std::exception &error) {
			abort();
		}
	}
	if (*argv[1] == 'd') { // done with: nothing is handled any more
		try {
			stop("range");
		} catch (std::exception &error) {
		}
		abort();
	}
	stop(argv[1]);
	return 0;
}
