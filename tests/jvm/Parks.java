import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Threads that park in known calls, a number of times for each byte of standard input. Prints for each call how often, and between which bounds the
 * time is that it was parked, in ns: at least from when main has seen it wait to when it wakes it up, at most all of the call.
 */
public final class Parks {
	private static final int TIMES = 5;

	private interface Wait {
		void run() throws Exception;
	}

	private static void locks(ReentrantLock lock) {
		lock.lock();
		lock.unlock();
	}

	private static void writes(ReentrantReadWriteLock lock) {
		lock.writeLock().lock();
		lock.writeLock().unlock();
	}

	private static void stamps(StampedLock lock) {
		lock.unlockWrite(lock.writeLock());
	}

	private static void acquires(Semaphore semaphore) throws InterruptedException {
		semaphore.acquire();
	}

	private static void awaits(CountDownLatch latch) throws InterruptedException {
		latch.await();
	}

	private static void conditions(ReentrantLock lock, Condition condition) throws InterruptedException {
		lock.lock();
		condition.await();
		lock.unlock();
	}

	private static void gets(CompletableFuture<String> future) throws Exception {
		future.get();
	}

	private static void parks(Object blocker) {
		LockSupport.parkNanos(blocker, 60_000_000_000L);
	}

	private static void once(Wait wait, Wait wake, long[] bounds) throws Exception {
		Thread thread = new Thread(() -> {
			long since = System.nanoTime();
			try {
				wait.run();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
			bounds[1] += System.nanoTime() - since;
		});
		thread.start();
		while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING)
			Thread.onSpinWait();
		long since = System.nanoTime();
		Thread.sleep(2);
		bounds[0] += System.nanoTime() - since;
		if (wake == null)
			LockSupport.unpark(thread);
		else
			wake.run();
		thread.join();
	}

	private static void print(String name, long[] bounds) {
		System.out.println(name + " " + TIMES + " " + bounds[0] + " " + bounds[1]);
	}

	private static void all() throws Exception {
		long[][] bounds = new long[8][2];
		for (int i = 0; i < TIMES; i++) {
			ReentrantLock lock = new ReentrantLock(i % 2 == 0);
			lock.lock();
			once(() -> locks(lock), lock::unlock, bounds[0]);
			ReentrantReadWriteLock both = new ReentrantReadWriteLock();
			both.readLock().lock();
			once(() -> writes(both), both.readLock()::unlock, bounds[1]);
			StampedLock stamped = new StampedLock();
			long stamp = stamped.writeLock();
			once(() -> stamps(stamped), () -> stamped.unlockWrite(stamp), bounds[2]);
			Semaphore semaphore = new Semaphore(0);
			once(() -> acquires(semaphore), semaphore::release, bounds[3]);
			CountDownLatch latch = new CountDownLatch(1);
			once(() -> awaits(latch), latch::countDown, bounds[4]);
			Condition condition = lock.newCondition();
			once(() -> conditions(lock, condition), () -> {
				lock.lock();
				condition.signal();
				lock.unlock();
			}, bounds[5]);
			CompletableFuture<String> future = new CompletableFuture<>();
			once(() -> gets(future), () -> future.complete(""), bounds[6]);
			once(() -> parks("blocker"), null, bounds[7]);
		}
		String[] names = {"locks", "writes", "stamps", "acquires", "awaits", "conditions", "gets", "parks"};
		for (int k = 0; k < names.length; k++)
			print(names[k], bounds[k]);
		System.out.println("done");
	}

	public static void main(String[] arguments) throws Exception {
		System.out.println("ready");
		while (System.in.read() >= 0)
			all();
	}
}
