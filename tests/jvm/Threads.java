import java.lang.management.ManagementFactory;

/**
 * main works, says how much CPU time it has used, and returns; the virtual machine then has its thread wait under another name, while "the
 * worker" works and says the same.
 */
public final class Threads {
	private static final long WORK_NS = 300_000_000;

	private static volatile int sum;

	private Threads() {
	}

	static long used() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	static void step(int n) {
		sum += n;
	}

	static void work() {
		while (used() < WORK_NS)
			for (int i = 0; i < 1000; i++)
				step(i);
		System.out.println(Thread.currentThread().getName().replace(' ', '_') + " " + used());
	}

	public static void main(String[] args) {
		Thread main = Thread.currentThread();

		new Thread(() -> {
			try {
				main.join();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			work();
		}, "the worker").start();
		work();
	}
}
