import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that wait in known ways, which no thread runs meanwhile, and one that is always run. VirtualWaiting MS prints for how many
 * milliseconds all of a kind have been there, by their own clocks.
 */
public final class VirtualWaiting {
	private static final int EACH = 10;
	private static final Semaphore NEVER = new Semaphore(0);
	private static volatile boolean isOver;
	private static volatile long sink;

	private VirtualWaiting() {
	}

	private static void sleeps() {
		try {
			while (!isOver)
				Thread.sleep(50);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void parks() {
		while (!isOver)
			LockSupport.park();
	}

	private static void acquires() {
		NEVER.acquireUninterruptibly();
	}

	private static void runs() {
		while (!isOver)
			sink++;
	}

	private static final class Kind {
		private final String name;
		private final Runnable body;
		private long total;

		Kind(String name, Runnable body) {
			this.name = name;
			this.body = body;
		}

		private synchronized void add(long ns) {
			total += ns;
		}

		Thread start() {
			return Thread.startVirtualThread(() -> {
				long since = System.nanoTime();

				body.run();
				add(System.nanoTime() - since);
			});
		}
	}

	public static void main(String[] arguments) throws Exception {
		Kind[] kinds = {new Kind("sleeps", VirtualWaiting::sleeps), new Kind("parks", VirtualWaiting::parks),
			new Kind("acquires", VirtualWaiting::acquires), new Kind("runs", VirtualWaiting::runs)};
		List<Thread> threads = new ArrayList<>();

		for (Kind kind : kinds)
			for (int i = 0; i < (kind == kinds[3] ? 1 : EACH); i++)
				threads.add(kind.start());
		Thread.sleep(Long.parseLong(arguments[0]));
		isOver = true;
		NEVER.release(EACH);
		for (Thread thread : threads)
			LockSupport.unpark(thread);
		for (Thread thread : threads)
			thread.join();
		for (Kind kind : kinds)
			System.out.println(kind.name + " " + kind.total / 1000000);
	}
}
