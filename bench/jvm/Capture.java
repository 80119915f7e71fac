import dev.waymark.Waymark;
import java.util.Arrays;
import java.util.Locale;

/**
 * Capture [ROUNDS [CALLS]] - nanoseconds of one context at depths of 10, 50 and 200 calls: of Waymark, and of the JDK's own ways to a
 * stack trace. The median of the rounds; as many more, 10 at least, warm up. Without the agent, of the JDK's ways only.
 *
 * "changing": each is asked for in another context than the one before, the innermost four calls differ.
 */
public final class Capture {
	private static final int[] DEPTHS = {10, 50, 200};
	private static final int CHANGING = 4;
	private static final StackWalker WALKER = StackWalker.getInstance();
	private static long sum;

	private Capture() {
	}

	/** A way to ask for the context. Each has a class of its own, so its call can be inlined. */
	private interface Way {
		void repeat(int calls);
	}

	private static void capture(int calls) {
		for (int i = 0; i < calls; i++)
			sum += Waymark.capture();
	}

	private static void event(int calls) {
		for (int i = 0; i < calls; i++)
			Waymark.event("capture", i);
	}

	private static void token(int calls) {
		for (int i = 0; i < calls; i++)
			sum += Waymark.token().length();
	}

	private static void stackTrace(int calls) {
		for (int i = 0; i < calls; i++)
			sum += Thread.currentThread().getStackTrace().length;
	}

	private static void walker(int calls) {
		for (int i = 0; i < calls; i++)
			sum += WALKER.walk(frames -> frames.mapToInt(StackWalker.StackFrame::getByteCodeIndex).count());
	}

	/** What an exception costs that nobody prints. */
	private static void throwable(int calls) {
		for (int i = 0; i < calls; i++)
			sum += new Throwable().hashCode();
	}

	private static void throwableTrace(int calls) {
		for (int i = 0; i < calls; i++)
			sum += new Throwable().getStackTrace().length;
	}

	/** The bits of which choose the way, so that contexts one behind the other differ. */
	private static void descend(int bits, int left, Way way) {
		if (left == 0)
			way.repeat(1);
		else if ((bits & 1) != 0)
			descend(bits >> 1, left - 1, way);
		else
			descend(bits >> 1, left - 1, way);
	}

	private static void changing(int calls, Way way) {
		for (int i = 0; i < calls; i++)
			descend(i, CHANGING, way);
	}

	/** depth: calls that are still to make. */
	private static void at(int depth, int calls, Way way) {
		if (depth > 0)
			at(depth - 1, calls, way);
		else
			way.repeat(calls);
	}

	private static double measure(int depth, int rounds, int calls, Way way) {
		double[] times = new double[rounds];

		for (int i = -Math.max(rounds, 10); i < rounds; i++) {
			long start = System.nanoTime();

			at(depth, calls, way);
			if (i >= 0)
				times[i] = (System.nanoTime() - start) / (double) calls;
		}
		Arrays.sort(times);
		return times[rounds / 2];
	}

	private static void row(String name, int rounds, int calls, Way way) {
		StringBuilder text = new StringBuilder("| ").append(name).append(" |");

		for (int depth : DEPTHS)
			text.append(String.format(Locale.ROOT, " %.1f |", measure(depth - 3, rounds, calls, way)));
		System.out.println(text);
	}

	public static void main(String[] args) {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 15;
		int calls = args.length > 1 ? Integer.parseInt(args[1]) : 20000;

		if (Waymark.isInstrumented()) {
			row("capture", rounds, 50 * calls, Capture::capture);
			row("capture, changing", rounds, 10 * calls, n -> changing(n, Capture::capture));
			row("changing, no capture", rounds, 10 * calls, n -> changing(n, one -> sum += one));
			row("event", rounds, calls, Capture::event);
			row("token", rounds, calls, Capture::token);
		}
		row("Thread.getStackTrace", rounds, calls / 10, Capture::stackTrace);
		row("StackWalker", rounds, calls / 10, Capture::walker);
		row("new Throwable", rounds, calls / 10, Capture::throwable);
		row("Throwable.getStackTrace", rounds, calls / 10, Capture::throwableTrace);
		if (sum == 0)
			throw new AssertionError("nothing was asked for");
	}
}
