import dev.waymark.Waymark;
import java.util.concurrent.CountDownLatch;

/** Records events in several threads, and ends as its argument says, while the other threads still run or wait. */
public final class Ends {
	private static final int EVENTS = 200;
	private static final int THREADS = 3;

	private static void record(int left) {
		if (left == 0)
			return;
		Waymark.event("kept", 1);
		record(left - 1);
	}

	/** Never returns. */
	private static void sleep() {
		for (;;) {
			try {
				Thread.sleep(Long.MAX_VALUE);
			} catch (InterruptedException e) {
				record(1);
			}
		}
	}

	/** As the worker of a pool. */
	private static void work(CountDownLatch done) {
		record(EVENTS);
		done.countDown();
		sleep();
	}

	static native void abort();

	private static void end(String how) {
		switch (how) {
		case "exit":
			Runtime.getRuntime().addShutdownHook(new Thread(() -> record(1)));
			System.exit(3);
			break;
		case "halt":
			Runtime.getRuntime().halt(4);
			break;
		case "kill":
			record(1);
			System.out.println("kill");
			sleep();
			break;
		case "throw":
			throw new IllegalStateException("uncaught");
		case "abort":
			System.load(System.getProperty("library"));
			abort();
			break;
		default:
		}
	}

	public static void main(String[] arguments) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(THREADS);

		for (int i = 0; i < THREADS; i++) {
			Thread thread = new Thread(() -> work(done));
			thread.setDaemon(true);
			thread.start();
		}
		record(EVENTS);
		done.await();
		end(arguments[0]);
	}
}
