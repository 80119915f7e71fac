import java.util.function.IntUnaryOperator;

/** Calls a method from two places, from one of them much more often, until threads were looked at some hundred times. */
public final class Hot {
	private static int sink;

	private Hot() {
	}

	private static int step(IntUnaryOperator step, int n) {
		return step.applyAsInt(n);
	}

	private static int work(int n) {
		int ret = n;

		for (int i = 0; i < 50; i++)
			ret = step(k -> k * 31 + 1, ret);
		return ret;
	}

	private static void seldom(int n) {
		sink += work(n);
	}

	private static void often(int n) {
		for (int i = 0; i < 99; i++)
			sink += work(n + i);
	}

	public static void main(String[] arguments) {
		long end = System.nanoTime() + 700_000_000L;

		for (int i = 0; System.nanoTime() < end; i++) {
			seldom(i);
			often(i);
		}
		if (arguments.length > 0)
			System.exit(0);
	}
}
