import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Allocations at known places. Prints what the agent must have recorded below `measured`: "CHAIN NUMBER", where a chain has the methods of
 * this file with their lines, as a walk of the stack has them, and the foreign call in which the allocation is, if any.
 */
public final class Allocations {
	private static final StackWalker WALKER = StackWalker.getInstance();
	private static final Map<String, Integer> EXPECTED = new TreeMap<>();
	private static final Object[] KEPT = new Object[1 << 12];
	private static int kept;
	/** As the argument says: enough for the compilers, or few. */
	private static int times;
	private static boolean isMeasured;

	static class Thing {
		long value;
	}

	static class Base {
		final int[] first = new int[at(1, 3)];
	}

	static final class Derived extends Base {
		final Thing second;

		Derived() {
			second = new Thing(); at(1);
		}
	}

	static final class Initialised {
		static final Thing[] ALL = new Thing[at(1, 8)];

		static void touch() {
		}
	}

	/** The line of the call allocates n objects itself; the others: and has a value, or does so in a foreign call. */
	private static void at(int n) {
		add(n, "");
	}

	private static int at(int n, int value) {
		add(n, "");
		return value;
	}

	private static int at(int n, int value, String foreign) {
		add(n, ";[" + foreign + ']');
		return value;
	}

	private static synchronized void add(int n, String end) {
		if (!isMeasured)
			return;
		List<String> frames = WALKER.walk(all -> all.skip(2).filter(frame -> frame.getClassName().startsWith("Allocations"))
				.map(frame -> frame.getClassName() + '.' + frame.getMethodName() + ':' + frame.getLineNumber())
				.collect(Collectors.toList()));
		StringBuilder chain = new StringBuilder();

		for (int i = frames.size(); i-- > 0;)
			chain.append(i == frames.size() - 1 ? "" : ";").append(frames.get(i));
		EXPECTED.merge(chain.append(end).toString(), n, Integer::sum);
	}

	private static synchronized void keep(Object object) {
		KEPT[kept++ & KEPT.length - 1] = object;
	}

	private static void many() {
		for (int i = 0; i < times; i++) keep(new Thing()); at(times);
		for (int i = 0; i < times; i++)
			one();
	}

	private static void one() {
		keep(new long[3]); at(1);
	}

	private static void arrays() {
		keep(new byte[1000]); at(1);
		keep(new Thing[at(1, 2)]);
		keep(new int[at(1, 2)][]);
		keep(new int[at(4, 3)][5]);
		keep(new String[][] {{}, {}}); at(3);
	}

	private static void objects() {
		keep(new Derived()); at(1);
		keep(new Object()); at(1);
		for (int i = 0; i < 3; i++)
			keep(Integer.valueOf(at(1, 5000, "java.lang.Integer.valueOf")));
	}

	private static void branches(int n) {
		for (int i = 0; i < n; i++)
			if (i % 3 == 0) {
				keep(new Thing()); at(1);
			} else {
				keep(i % 3 == 1 ? new short[at(1, 1)] : null);
			}
	}

	private static void thrown() {
		try {
			throw new IllegalStateException(String.valueOf(at(1, 7)));
		} catch (IllegalStateException e) {
			keep(new Thing()); at(1);
		} finally {
			keep(new Thing()); at(1);
		}
	}

	private static void callbacks() {
		List<Integer> list = new ArrayList<>(List.of(2, 1)); at(1);

		list.sort(Comparator.comparing(n -> {
			keep(new Thing()); at(1);
			return n;
		}));
	}

	/* Sampled whatever is drawn: it is much larger than the interval. */
	private static void large() {
		keep(new byte[64 << 20]); at(1);
	}

	private static void work() {
		many();
		arrays();
		objects();
		branches(10);
		thrown();
		callbacks();
	}

	private static void measured() {
		work();
		Initialised.touch();
	}

	private static void inThread(Runnable body) throws InterruptedException {
		Thread thread = new Thread(body);

		thread.start();
		thread.join();
	}

	/* Loading a class and linking a lambda allocate, too: so everything runs before it is measured. */
	public static void main(String[] arguments) throws InterruptedException {
		Thread[] all = new Thread[3];

		times = Integer.parseInt(arguments[0]);
		work();
		isMeasured = true;
		work();
		isMeasured = false;
		EXPECTED.clear();
		isMeasured = true;
		measured();
		large();
		inThread(() -> measured());
		for (int i = 0; i < all.length; i++)
			(all[i] = new Thread(Allocations::measured)).start();
		for (Thread thread : all)
			thread.join();
		isMeasured = false;
		EXPECTED.forEach((chain, n) -> System.out.println(chain + ' ' + n));
	}
}
