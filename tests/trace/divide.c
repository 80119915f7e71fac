/* A division by zero, which touches no memory, in the middle of a block. */
static int histogram[8];
static volatile int samples[] = {3, 5, 1, 7, 2, 2, 6, 0, 4, 1};

__attribute__((noinline)) static int average(int bucket, int total)
{
	int n = histogram[bucket];
	int extra = total & 1 ? 3 : 0;

	if (total > 40)
		n--;
	total += extra;
	total /= n;
	return total > 9 ? total - 1 : total;
}

int main(void)
{
	int sum = 0, total = 0;

	for (int i = 0; i < 10; i++) {
		histogram[samples[i] & 7]++;
		total += samples[i];
	}
	for (int i = 1; i < 8; i++)
		sum += average(i, total + i * 3);
	return sum;
}
