import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Threads that use CPU time in one method each, below a chain of their own. Prints how many nanoseconds each says that it has used. */
public final class Spinning {
	private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();
	private static final long ENOUGH_NS = 300_000_000;
	static volatile int result;

	/* No call, so that there is no site but that of its entry. */
	private static int spin(int n) {
		int sum = n;

		for (int i = 0; i < 200_000; i++)
			sum = sum * 31 + i;
		return sum;
	}

	private static int turn(int n) {
		int sum = n;

		for (int i = 0; i < 200_000; i++)
			sum = sum * 33 ^ i;
		return sum;
	}

	private static void left() {
		while (TIMES.getCurrentThreadCpuTime() < ENOUGH_NS)
			result += spin(result);
	}

	private static void right(int depth) {
		if (depth > 0) {
			right(depth - 1);
			return;
		}
		while (TIMES.getCurrentThreadCpuTime() < ENOUGH_NS)
			result += turn(result);
	}

	private static synchronized void print(String name) {
		System.out.println(name + ' ' + TIMES.getCurrentThreadCpuTime());
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread[] all = {new Thread(() -> {
			left();
			print("left");
		}), new Thread(() -> {
			right(40);
			print("right");
		})};

		for (Thread thread : all)
			thread.start();
		for (Thread thread : all)
			thread.join();
	}
}
