import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Uses CPU time where a stack is hard to walk: in stubs of the virtual machine, at the ends of small methods, in interface calls, and in classes
 * that are unloaded. Sampled CLASSES MS prints how much each method has used, and when which one has begun and ended:
 *
 * <pre>
 * change BEFORE BEHIND PART
 * change BEFORE BEHIND
 * </pre>
 */
public final class Sampled {
	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	private static final byte[] FROM = new byte[1 << 14];
	private static final byte[] TO = new byte[1 << 14];
	private static final IntUnaryOperator[] OPERATORS = {x -> x + 1, x -> x * 3, x -> x ^ 5, x -> x - 7};
	public static volatile double sink;

	private Sampled() {
	}

	private static void copies() {
		for (int i = 0; i < 3000; i++)
			System.arraycopy(FROM, 0, TO, 0, FROM.length - (i & 63));
	}

	private static void fills() {
		for (int i = 0; i < 3000; i++)
			Arrays.fill(TO, (byte) i);
	}

	private static void sines() {
		double sum = 0;

		for (int i = 0; i < 20000; i++)
			sum += Math.sin(i) + Math.pow(i, 1.1);
		sink = sum;
	}

	private static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	private static void recursions() {
		sink += fib(22);
	}

	private static void interfaces() {
		int n = 0;

		for (int i = 0; i < 200000; i++)
			n = OPERATORS[i & 3].applyAsInt(n);
		sink += n;
	}

	/** A class of its own loader, which nobody keeps. */
	public static final class Unloaded implements Runnable {
		@Override
		public void run() {
			double sum = 0;

			for (int i = 0; i < 20000; i++)
				sum += Math.sqrt(i + sum);
			sink = sum;
		}
	}

	private static final class Loader extends ClassLoader {
		Loader() {
			super(Sampled.class.getClassLoader());
		}

		Class<?> define(byte[] bytes) {
			return defineClass(null, bytes, 0, bytes.length);
		}
	}

	private static byte[] bytes;
	private static int rounds;

	private static void unloads() {
		try {
			for (int i = 0; i < 20; i++)
				((Runnable) new Loader().define(bytes).getDeclaredConstructor().newInstance()).run();
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
		if (++rounds % 50 == 0)
			System.gc();
	}

	private static final String[] NAMES = {"copies", "fills", "sines", "recursions", "interfaces", "unloads"};
	private static final Runnable[] PARTS = {Sampled::copies, Sampled::fills, Sampled::sines, Sampled::recursions, Sampled::interfaces,
		Sampled::unloads};

	private static final int CHANGES = 1 << 20;

	public static void main(String[] arguments) throws Exception {
		long[] times = new long[CHANGES];
		byte[] parts = new byte[CHANGES / 2];
		int count = 0;
		long[] used = new long[PARTS.length];
		long most = Long.parseLong(arguments[1]) * 1_000_000;

		bytes = Files.readAllBytes(Path.of(arguments[0], "Sampled$Unloaded.class"));
		while (THREADS.getCurrentThreadCpuTime() < most && count < parts.length - PARTS.length)
			for (int i = 0; i < PARTS.length; i++) {
				long before = THREADS.getCurrentThreadCpuTime();

				times[2 * count] = System.nanoTime();
				PARTS[i].run();
				times[2 * count + 1] = System.nanoTime();
				parts[count++] = (byte) i;
				used[i] += THREADS.getCurrentThreadCpuTime() - before;
			}
		for (int i = 0; i < PARTS.length; i++)
			System.out.println(NAMES[i] + " " + used[i]);
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < count; i++) {
			text.append("change ").append(times[2 * i]).append(' ').append(times[2 * i]).append(' ').append(NAMES[parts[i]]).append('\n');
			text.append("change ").append(times[2 * i + 1]).append(' ').append(times[2 * i + 1]).append('\n');
		}
		System.out.print(text);
	}
}
