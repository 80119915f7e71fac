/* graph.c - a program for unit tests: functions that call each other as a path says. */
#include <stdint.h>

#pragma GCC visibility push(default)
typedef void end_fn(int n);
typedef void function(const uint8_t *path, end_fn *end);

function graph0, graph1, graph2, graph3, graph4, graph5;
int graph_leaf(int n);
volatile unsigned graph_sum;

/* What is behind the calls keeps them from being tail calls. */
#define FUNCTION(number)                                                               \
	__attribute__((noinline)) void graph##number(const uint8_t *path, end_fn *end) \
	{                                                                              \
		switch (*path) {                                                       \
		case 0:                                                                \
			graph0(path + 1, end);                                         \
			break;                                                         \
		case 1:                                                                \
			graph1(path + 1, end);                                         \
			break;                                                         \
		case 2:                                                                \
			graph2(path + 1, end);                                         \
			break;                                                         \
		case 3:                                                                \
			graph3(path + 1, end);                                         \
			break;                                                         \
		case 4:                                                                \
			graph4(path + 1, end);                                         \
			break;                                                         \
		case 5:                                                                \
			graph5(path + 1, end);                                         \
			break;                                                         \
		default:                                                               \
			end(12345);                                                    \
		}                                                                      \
		graph_sum += number + 1;                                               \
	}

FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)

__attribute__((noinline)) int graph_leaf(int n)
{
	return 3 * n;
}
