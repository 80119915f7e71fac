import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Exceptions at known places. Prints "CHAIN NUMBER" as Allocations does. */
public final class Exceptions {
	private static final StackWalker WALKER = StackWalker.getInstance();
	private static final Map<String, Integer> EXPECTED = new TreeMap<>();
	private static int done;

	/** An exception is thrown at the line of the call; the second: in a foreign call. */
	private static void at() {
		add("");
	}

	private static void at(String foreign) {
		add(";[" + foreign + ']');
	}

	private static synchronized void add(String end) {
		List<String> frames = WALKER.walk(all -> all.skip(2).filter(frame -> frame.getClassName().startsWith("Exceptions"))
				.map(frame -> frame.getClassName() + '.' + frame.getMethodName() + ':' + frame.getLineNumber())
				.collect(Collectors.toList()));

		Collections.reverse(frames);
		EXPECTED.merge(String.join(";", frames) + end, 1, Integer::sum);
	}

	static final class Plain extends RuntimeException {
		private static final long serialVersionUID = 1;
		static final Plain ONE = new Plain();

		Plain() {
			super("plain", null, false, false);
		}
	}

	/* ---- thrown ---- */

	private static void thrower(int depth) {
		if (depth == 0) {
			at(); throw new Plain();
		}
		thrower(depth - 1);
	}

	/* Thrown on by finally and synchronized: not once more. */
	private static void through(int depth) {
		try {
			synchronized (EXPECTED) {
				thrower(depth);
			}
		} finally {
			if (done++ > 0) {
				try {
					at(); throw new IllegalStateException("in finally, caught");
				} catch (IllegalStateException e) {
					done++;
				}
			}
		}
	}

	/* The same object each time, which is thrown anew by a statement. */
	private static void again(int depth) {
		if (depth == 0) {
			at(); throw Plain.ONE;
		}
		try {
			again(depth - 1);
		} catch (Plain e) {
			at(); throw e;
		}
	}

	static class Base {
		Base(int value) {
			if (value > 1) {
				at(); throw new IllegalArgumentException("base");
			}
		}
	}

	static final class Derived extends Base {
		Derived(int value) {
			super(value);
			at(); throw new IllegalArgumentException("derived");
		}
	}

	/* ---- by the virtual machine ---- */

	private static int nullPointer(int[] array) {
		at(); return array.length;
	}

	private static int withoutCall(int[] array, int index) { return array[index] / (index - 1); }

	private static void implicit(int kind) {
		Object text = "text";
		int[] array = new int[2];

		switch (kind) {
		case 0:
			nullPointer(null);
			break;
		case 1:
			at(); done += array[kind + 1];
			break;
		case 2:
			at(); done += 7 / (kind - 2);
			break;
		case 3:
			at(); done += (Integer) text;
			break;
		case 4:
			at(); done += new int[kind - 5].length;
			break;
		default:
			at(); ((Object[]) new String[1])[0] = kind;
		}
	}

	/* The innermost method has no call: its line is its first. */
	private static void atCallee(int[] array, int index) {
		atLine(); withoutCall(array, index);
	}

	private static void atLine() {
		add(";Exceptions.withoutCall:" + Integer.getInteger("line"));
	}

	/* ---- foreign code ---- */

	private static void parse() {
		at("java.lang.Integer.parseInt"); Integer.parseInt("x");
	}

	private static void iterate() {
		at("indirect:java.util.Iterator.next"); new ArrayList<Integer>().iterator().next();
	}

	static void reflected() {
		at(); throw new Plain();
	}

	private static void reflection(int n) throws ReflectiveOperationException {
		for (int i = 0; i < n; i++)
			try {
				at("indirect:java.lang.reflect.Method.invoke"); Exceptions.class.getDeclaredMethod("reflected").invoke(null);
			} catch (InvocationTargetException e) {
				done++;
			}
	}

	private static void stream() {
		IntStream.range(0, 3).forEach(n -> {
			if (n == 2) {
				at(); throw new Plain();
			}
		});
	}

	/* ---- ---- */

	private static void caught(Runnable body) {
		try {
			body.run();
		} catch (RuntimeException e) {
			done++;
		}
	}

	private static void all(int times) {
		for (int i = 0; i < times; i++) {
			int n = i;
			caught(() -> thrower(n % 3));
			caught(() -> through(1));
			caught(() -> again(2));
			caught(() -> new Derived(n % 4));
			caught(() -> implicit(n % 6));
			caught(() -> atCallee(n % 2 == 0 ? null : new int[2], n % 4));
			caught(() -> parse());
			caught(() -> iterate());
			caught(() -> stream());
		}
	}

	private static int overflow(int n) {
		return 1 + overflow(n + 1);
	}

	public static void main(String[] arguments) throws Exception {
		int times = Integer.parseInt(arguments[0]);

		try {
			overflow(0);
		} catch (StackOverflowError e) {
			done++;
		}
		all(4 * times);
		reflection(20);
		Thread thread = new Thread(() -> all(times));
		thread.start();
		thread.join();
		EXPECTED.forEach((chain, n) -> System.out.println(chain + ' ' + n));
	}
}
