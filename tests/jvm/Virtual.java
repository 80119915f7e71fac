import dev.waymark.Waymark;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Virtual threads. Each point prints its token and, behind it, the stack as StackWalker has it: methods of this file, outermost first, on
 * those of the thread that has started the running one.
 */
public final class Virtual {
	private static final StackWalker WALKER = StackWalker.getInstance();
	/** What the running thread stands on. */
	private static final ThreadLocal<String> BELOW = ThreadLocal.withInitial(() -> "");
	private static int points;

	/** Without the method that asks. */
	static String stack() {
		List<String> frames = WALKER.walk(all -> all.skip(2).filter(frame -> frame.getClassName().startsWith("Virtual"))
				.map(frame -> frame.getClassName() + '.' + frame.getMethodName())
				.collect(Collectors.toList()));

		Collections.reverse(frames);
		return BELOW.get() + ';' + String.join(";", frames);
	}

	static void point() {
		String token = Waymark.token();
		String stack = stack();

		synchronized (Virtual.class) {
			System.out.println("point " + token + ' ' + stack);
			points++;
		}
	}

	/** What a thread runs: it stands on the stack where this is called. */
	static Runnable from(Runnable work) {
		String below = stack() + ";[thread]";

		return () -> {
			BELOW.set(below);
			work.run();
		};
	}

	/* ---- who starts whom ---- */

	static void inner() {
		point();
	}

	static void starts() {
		end(Thread.startVirtualThread(from(Virtual::startsUnstarted)));
	}

	static void startsUnstarted() {
		Thread thread = Thread.ofVirtual().unstarted(from(Virtual::startsPlatform));

		point();
		thread.start();
		end(thread);
		point();
	}

	static void startsPlatform() {
		Thread thread = new Thread(from(Virtual::inner));

		thread.start();
		end(thread);
		point();
	}

	static void end(Thread thread) {
		try {
			thread.join();
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/* ---- threads that go from carrier to carrier ---- */

	static final ReentrantLock LOCK = new ReentrantLock();
	static final Object MONITOR = new Object();

	static void locked(int n) {
		LOCK.lock();
		try {
			Thread.yield();
			point();
		} finally {
			LOCK.unlock();
		}
		synchronized (MONITOR) {
			Thread.yield();
			if (n % 3 == 0)
				point();
		}
	}

	static int recursion(int n) {
		Thread.yield();
		if (n == 0) {
			locked(n);
			return 1;
		}
		int ret = recursion(n - 1) + 1;

		if (n % 4 == 0)
			locked(n);
		Thread.yield();
		return ret;
	}

	static void throwing(int n) {
		Thread.yield();
		if (n == 0)
			throw new IllegalStateException("thrown");
		try {
			throwing(n - 1);
		} finally {
			Thread.yield();
			if (n % 3 == 0)
				point();
		}
	}

	static int deep;

	static void overflow() {
		deep++;
		overflow();
	}

	static void task(int n) {
		if (recursion(n % 20) != n % 20 + 1)
			throw new IllegalStateException("recursion");
		try {
			throwing(n % 7);
		} catch (IllegalStateException e) {
			point();
		}
		if (n % 50 == 0)
			try {
				overflow();
			} catch (StackOverflowError e) {
				point();
			}
	}

	static void many() throws Exception {
		List<Future<?>> all = new ArrayList<>();

		try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
			for (int i = 0; i < 200; i++) {
				int n = i;

				all.add(executor.submit(from(() -> task(n))));
			}
			for (Future<?> one : all)
				one.get();
		}
	}

	/* ---- threads that wait for each other ---- */

	static void exchange(Exchanger<Integer> exchanger, int n) {
		try {
			if (n > 0) {
				exchanger.exchange(n);
				point();
				exchange(exchanger, n - 1);
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void exchanges() throws InterruptedException {
		Exchanger<Integer> exchanger = new Exchanger<>();
		Runnable work = from(() -> exchange(exchanger, 30));
		Thread one = Thread.ofVirtual().unstarted(work), other = Thread.ofVirtual().unstarted(work), third = new Thread(work);

		one.start();
		other.start();
		one.join();
		other.join();
		Thread partner = Thread.ofVirtual().unstarted(work);

		third.start();
		partner.start();
		third.join();
		partner.join();
	}

	/** A thread that never ends, and one that waits while the program does. */
	static void left() throws InterruptedException {
		CountDownLatch began = new CountDownLatch(1);

		Thread.startVirtualThread(from(() -> {
			point();
			began.countDown();
			try {
				new CountDownLatch(1).await();
			} catch (InterruptedException e) {
				point();
			}
		}));
		began.await();
	}

	public static void main(String[] args) throws Exception {
		starts();
		many();
		exchanges();
		left();
		point();
		System.out.println("points " + points);
	}
}
