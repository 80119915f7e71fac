/* A switch whose cases share blocks; as many arguments as say which call crashes. */
#include <stdio.h>
__attribute__((noinline)) int f(int x, int *p)
{
	switch (x) {
	case 10:
	case 35:
		x = 3;
		break;
	case 1 ... 9:
	case -7:
		x *= 5;
		break;
	case 100:
	case 102:
	case 104:
	case 106:
	case 108:
	case 110:
	case 112:
	case 114:
	case 116:
	case 118:
		x ^= p != 0;
		break;
	default:
		x += 100;
	}
	return *p + x;
}
int main(int c, char **v)
{
	int one = 1, s = 0;
	static const int k[] = {10, 4, 116, 99};
	for (int i = 0; i < 4; i++)
		s += f(k[i], &one);
	for (int i = 0; i < 4; i++)
		if (c == i + 2)
			s += f(k[i], 0);
	return s;
}
