import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait in known ways, and one that runs, for so many milliseconds, or until a byte comes: then main is in native code. Prints how many
 * milliseconds each has been there, by its own clock.
 */
public final class Waiting {
	private static final Object NEVER = new Object();
	private static final Object HELD = new Object();
	private static final CountDownLatch THERE = new CountDownLatch(5);
	private static volatile boolean isOver;
	private static volatile long sink;

	private static synchronized void say(String name, long since) {
		System.out.println(name + " " + (System.nanoTime() - since) / 1000000);
	}

	private static void sleeps() throws InterruptedException {
		while (!isOver)
			Thread.sleep(100);
	}

	private static void parks() {
		while (!isOver)
			LockSupport.park(NEVER);
	}

	private static void waits() throws InterruptedException {
		synchronized (NEVER) {
			while (!isOver)
				NEVER.wait();
		}
	}

	private static void blocks() {
		synchronized (HELD) {
			sink++;
		}
	}

	private static void runs() {
		while (!isOver)
			sink++;
	}

	private interface Body {
		void run() throws Exception;
	}

	private static Thread start(String name, Body body) {
		Thread thread = new Thread(() -> {
			long since = System.nanoTime();
			THERE.countDown();
			try {
				body.run();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
			say(name, since);
		}, name);
		thread.start();
		return thread;
	}

	/** main is mostly seen under its first name. */
	private static void first() throws InterruptedException {
		Thread.sleep(100);
	}

	public static void main(String[] arguments) throws Exception {
		Thread[] threads = new Thread[5];
		first();
		Thread.currentThread().setName("chief of threads");
		synchronized (HELD) {
			threads[0] = start("sleeps", Waiting::sleeps);
			threads[1] = start("parks", Waiting::parks);
			threads[2] = start("waits", Waiting::waits);
			threads[3] = start("blocks", Waiting::blocks);
			threads[4] = start("runs", Waiting::runs);
			THERE.await();
			long since = System.nanoTime();
			if (arguments.length == 0) {
				System.out.println("ready");
				System.in.read();
			} else {
				Thread.sleep(Long.parseLong(arguments[0]));
			}
			say("main", since);
		}
		isOver = true;
		synchronized (NEVER) {
			NEVER.notifyAll();
		}
		LockSupport.unpark(threads[1]);
		for (Thread thread : threads)
			thread.join();
	}
}
