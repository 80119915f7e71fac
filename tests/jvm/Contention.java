import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.Vector;
import java.util.stream.Collectors;

/**
 * Waits for monitors, one after the other: a thread holds the monitor until another one is blocked. Prints "CHAIN NUMBER NANOSECONDS" as
 * Allocations does; no wait can have been longer than those together.
 */
public final class Contention {
	private static final StackWalker WALKER = StackWalker.getInstance();
	private static final Map<String, long[]> EXPECTED = new TreeMap<>();
	private static final Contention LOCK = new Contention();
	private static final Vector<Integer> VECTOR = new Vector<>();
	private static int done;

	/* The frames below the two of this class that call it. */
	private static long[] at(String foreign) {
		List<String> frames = WALKER.walk(all -> all.skip(1).filter(frame -> frame.getClassName().startsWith("Contention"))
				.map(frame -> frame.getClassName() + '.' + frame.getMethodName() + ':' + frame.getLineNumber())
				.collect(Collectors.toList()));
		StringBuilder chain = new StringBuilder();

		for (int i = frames.size(); i-- > 0;)
			chain.append(chain.length() == 0 ? "" : ";").append(frames.get(i));
		long[] ret = EXPECTED.computeIfAbsent(chain.append(foreign).toString(), added -> new long[2]);
		ret[0]++;
		ret[1] -= System.nanoTime();
		return ret;
	}

	private static void entered(long[] counted) {
		counted[1] += System.nanoTime();
	}

	private static void block() {
		long[] counted;

		counted = at(""); synchronized (LOCK) {
			entered(counted);
			done++;
		}
	}

	private synchronized void enter(long[] counted) {
		entered(counted);
		done++;
	}

	private static synchronized void enterClass(long[] counted) {
		entered(counted);
		done++;
	}

	/* The frame of a synchronized method is not there yet: it is the call that waits. */
	private static void method() {
		LOCK.enter(at(";[indirect:Contention.enter]"));
	}

	private static void classMethod() {
		enterClass(at(";[indirect:Contention.enterClass]"));
	}

	private static void foreign() {
		long[] counted = at(";[indirect:java.util.Vector.add]"); VECTOR.add(1);
		entered(counted);
	}

	private static void nested(int depth) {
		if (depth == 0)
			block();
		else
			nested(depth - 1);
	}

	private static void withReleased(Object lock, Runnable waiter) throws InterruptedException {
		Thread thread = new Thread(waiter);

		synchronized (lock) {
			thread.start();
			while (thread.getState() != Thread.State.BLOCKED)
				Thread.onSpinWait();
		}
		thread.join();
	}

	public static void main(String[] arguments) throws InterruptedException {
		int rounds = Integer.parseInt(arguments[0]);

		for (int i = 0; i < rounds; i++) {
			withReleased(LOCK, Contention::block);
			withReleased(LOCK, Contention::method);
			withReleased(Contention.class, Contention::classMethod);
			withReleased(VECTOR, Contention::foreign);
			withReleased(LOCK, () -> nested(1));
			synchronized (LOCK) {
				done++;
			}
		}
		EXPECTED.forEach((chain, counted) -> System.out.println(chain + ' ' + counted[0] + ' ' + counted[1]));
	}
}
