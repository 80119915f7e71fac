import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Allocates, throws or waits in some ways, many times, and prints the stacks of that, as Java has them, and how often each was:
 * Walked alloc|exceptions|contention TIMES.
 */
public final class Walked {
	private static final int LARGE = 4 << 20;
	private static final Map<String, Integer> STACKS = new TreeMap<>();
	private static final Object LOCK = new Object();
	private static volatile boolean isTaken;
	private static Object sink;
	private static int zero;

	private Walked() {
	}

	private static synchronized void note(StackTraceElement[] stack, int skipped) {
		StringBuilder text = new StringBuilder();

		for (int i = stack.length - 1; i >= skipped; i--) {
			text.append(stack[i].getClassName()).append('.').append(stack[i].getMethodName());
			if (stack[i].getLineNumber() > 0)
				text.append(':').append(stack[i].getLineNumber());
			text.append(i > skipped ? ";" : "");
		}
		STACKS.merge(text.toString(), 1, Integer::sum);
	}

	/** The caller's stack. */
	private static void note() {
		note(Thread.currentThread().getStackTrace(), 2);
	}

	// ---- allocations ----

	private static final class Made {
		private final byte[] bytes;

		Made() {
			note(); bytes = new byte[LARGE];
		}
	}

	private static void allocate() {
		note(); sink = new byte[LARGE];
	}

	private static void allocateDeep(int depth) {
		if (depth > 0)
			allocateDeep(depth - 1);
		else
			sink = new byte[LARGE];
	}

	private static void allocateAll() {
		List<Integer> two = new ArrayList<>(List.of(2, 1));

		allocate();
		sink = new Made();
		allocateDeep(300);
		IntStream.range(0, 2).forEach(i -> allocate());
		two.sort((a, b) -> {
			note(); sink = new int[LARGE];
			return a - b;
		});
		call("allocate");
	}

	// ---- exceptions ----

	private static void fail(int kind) {
		switch (kind) {
		case 0:
			throw new IllegalStateException();
		case 1:
			sink = ((int[]) (zero == 0 ? null : sink))[0];
			break;
		case 2:
			sink = new int[1][zero + 2];
			sink = ((int[][]) sink)[zero + 1];
			break;
		case 3:
			sink = 1 / zero;
			break;
		case 4:
			sink = (String) (Object) Walked.class;
			break;
		case 5:
			sink = new int[zero - 1];
			break;
		default:
			throw new Error();
		}
	}

	private static void failThrough(int kind) {
		try {
			synchronized (sink == null ? STACKS : LOCK) {
				fail(kind);
			}
		} finally {
			sink = null;
		}
	}

	private static void failAgain(int kind) {
		try {
			fail(kind);
		} catch (RuntimeException | Error e) {
			throw e;
		}
	}

	private static void caught(Runnable run) {
		try {
			run.run();
		} catch (RuntimeException | Error e) {
			note(e.getStackTrace(), 0);
		}
	}

	private static void throwAll() {
		for (int i = 0; i < 7; i++) {
			int kind = i;

			caught(() -> fail(kind));
			caught(() -> failThrough(kind));
			caught(() -> failAgain(kind));
		}
	}

	// ---- contention ----

	private static void waitInBlock() {
		note(); synchronized (LOCK) { isTaken = true; } // the interpreter is at the next instruction when it waits
	}

	private static final class Locked {
		synchronized void take() {
			note(); isTaken = true;
		}
	}

	private static void waited(Object lock, Runnable run) {
		Thread waiter = new Thread(run);

		isTaken = false;
		synchronized (lock) {
			waiter.start();
			while (waiter.getState() != Thread.State.BLOCKED)
				Thread.onSpinWait();
			if (isTaken)
				throw new AssertionError("not held");
		}
		while (waiter.isAlive())
			Thread.onSpinWait();
	}

	private static void waitAll() {
		Locked locked = new Locked();

		waited(LOCK, Walked::waitInBlock);
		waited(LOCK, () -> IntStream.range(0, 1).forEach(i -> waitInBlock()));
		waited(LOCK, () -> call("waitInBlock"));
		waited(locked, locked::take);
	}

	private static void call(String name) {
		try {
			Method method = Walked.class.getDeclaredMethod(name);

			method.invoke(null);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	public static void main(String[] arguments) throws Exception {
		Runnable all = arguments[0].equals("alloc") ? Walked::allocateAll
				: arguments[0].equals("exceptions") ? Walked::throwAll : Walked::waitAll;
		Thread other;

		for (int i = 0; i < Integer.parseInt(arguments[1]); i++)
			all.run();
		other = new Thread(all);
		other.start();
		other.join();
		STACKS.forEach((stack, count) -> System.out.println(stack + " " + count));
	}
}
