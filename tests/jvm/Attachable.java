import java.io.BufferedReader;
import java.io.FileWriter;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.concurrent.SynchronousQueue;

/**
 * Does what standard input says, in threads that are there before an agent comes, and says when it is done: allocate N, contend N, burn MS,
 * collect, warm, watch, gap. Ends with the status 3 at the end of the input. Its argument: a file for what differs from run to run.
 */
final class Attachable {
	private static final Object LOCK = new Object();
	private static final SynchronousQueue<Runnable> TASKS = new SynchronousQueue<>();
	private static final SynchronousQueue<Boolean> DONE = new SynchronousQueue<>();
	private static volatile Object sink;
	private static volatile long sum;
	private static volatile long longestNanos;

	private Attachable() {
	}

	static void allocate(int count) {
		for (int i = 0; i < count; i++)
			sink = new byte[1000];
	}

	static void warm() {
		for (int i = 0; i < 16; i++)
			sink = new byte[1 << 20];
	}

	static void deeper(int depth, int count) {
		if (depth > 0)
			deeper(depth - 1, count);
		else
			allocate(count);
	}

	static void enter() {
		synchronized (LOCK) {
			sink = LOCK;
		}
	}

	/** Holds the lock until the other thread waits for it. */
	static void contend(int count) throws InterruptedException {
		for (int i = 0; i < count; i++) {
			Thread other = new Thread(Attachable::enter, "contender");

			synchronized (LOCK) {
				other.start();
				while (other.getState() != Thread.State.BLOCKED)
					Thread.onSpinWait();
			}
			other.join();
		}
	}

	static void burn(long millis) {
		var threads = ManagementFactory.getThreadMXBean();
		long end = threads.getCurrentThreadCpuTime() + millis * 1_000_000;

		while (threads.getCurrentThreadCpuTime() < end)
			sum += spin(sum);
	}

	static long spin(long seed) {
		for (int i = 0; i < 200_000; i++)
			seed = seed * 6364136223846793005L + 1442695040888963407L;
		return seed;
	}

	/** Looks at the clock without a pause: what holds the virtual machine up is a gap. */
	static void watch() {
		long last = System.nanoTime();

		for (;;) {
			long now = System.nanoTime();

			if (now - last > longestNanos)
				longestNanos = now - last;
			last = now;
		}
	}

	static void work() {
		try {
			for (;;) {
				TASKS.take().run();
				DONE.put(true);
			}
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
	}

	static void inWorker(Runnable task) throws InterruptedException {
		TASKS.put(task);
		DONE.take();
	}

	static void daemon(String name, Runnable runnable) {
		Thread thread = new Thread(runnable, name);

		thread.setDaemon(true);
		thread.start();
	}

	public static void main(String[] args) throws Exception {
		var input = new BufferedReader(new InputStreamReader(System.in));
		String line;

		daemon("worker", Attachable::work);
		System.out.println("ready");
		try (var notes = new PrintWriter(new FileWriter(args[0]), true)) {
			while ((line = input.readLine()) != null) {
				String[] words = line.split(" ");
				int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;

				switch (words[0]) {
				case "allocate" -> inWorker(() -> deeper(3, number));
				case "contend" -> contend(number);
				case "burn" -> inWorker(() -> burn(number));
				case "collect" -> System.gc();
				case "warm" -> inWorker(Attachable::warm);
				case "watch" -> daemon("watch", Attachable::watch);
				case "gap" -> {
					notes.printf("%.1f%n", longestNanos / 1e6);
					longestNanos = 0;
				}
				default -> throw new AssertionError(line);
				}
				System.out.println(words[0]);
			}
		}
		System.exit(3);
	}
}
