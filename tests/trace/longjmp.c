/* Crashes after longjmp: in the function that it came back to, and deep in it again. */
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf top;
static int errors;

__attribute__((noinline)) static int parse(const char *text, int depth)
{
	int sum = 0;

	for (; *text; text++) {
		if (*text == '(')
			sum += parse(text + 1, depth + 1);
		else if (*text == ')')
			return sum;
		else if (*text == '!')
			longjmp(top, depth + 1);
		else if (*text == '?')
			sum += *(volatile int *)(long)(depth * 8);
		else
			sum += *text - '0';
	}
	return sum;
}

__attribute__((noinline)) static int statement(const char *text)
{
	volatile int result = 0;

	switch (setjmp(top)) {
	case 0:
		result = parse(text, 1);
		break;
	case 1:
		return -1;
	default:
		errors++;
		if (errors > 2)
			result = parse("12(3?)", errors);
	}
	return result + errors;
}

int main(void)
{
	static const char *const lines[] = {"12", "1(2(3!))", "(4)", "((!))", "1!", "((((!", "7"};
	int sum = 0;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		sum += statement(lines[i]);
	return sum;
}
