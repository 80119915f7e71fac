package random;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a generated program keeps of a thread: its shadow stack, its dice and its bounds. The program writes the fields itself, without a
 * call that could repair a context: a method enters at `depth`, writes its line before each call, and says again how deep it is. So what
 * an exception has left above it is of no account. Methods that the JDK calls, which may go on after an exception, restore the depth.
 */
public final class Shadow {
	private static final ThreadLocal<Shadow> OWN = ThreadLocal.withInitial(Shadow::new);
	private static final StackWalker WALKER = StackWalker.getInstance();
	/** Contexts that were captured, and their stacks. */
	private static final Map<Long, String> SEEN = new HashMap<>();
	/** Whether each shadow stack is compared with StackWalker, which is a test of the generated program. */
	private static final boolean IS_WALKED = Boolean.getBoolean("walk");
	private static final int ONLY = Integer.getInteger("only", -1);
	private static final int HIDDEN = -1;
	private static int wrong;
	/** Points that may still be printed where the stack depends on the scheduler. */
	private static int looseLeft;

	public String[] names = new String[128];
	public int[] lines = new int[128];
	public int depth;
	/** Where constructors begin that the JDK calls. */
	public int base;
	/** The number of frames from which on nothing more is called. */
	public int limit = 80;
	public long dice;
	/** Calls that may still be made, points that may still be printed. */
	public int calls;
	public int points;
	/** Class loaders, stack overflows, threads, deep recursions and long loops that may still be made. */
	public int worlds;
	public int overflows;
	public int threads;
	public int deeps;
	public int hots;
	/** Over 0: in constructors that have no frame. */
	public int quiet;
	/** Over 0: beside another thread, so it must not be the first to use a class. */
	public int apart;
	/** Over 0: the stack depends on the scheduler. */
	public int loose;

	public static Shadow get() {
		return OWN.get();
	}

	/** Whether this part of a program is to run: all, or the one that the property says, to find the cause of a difference. */
	public static boolean isWanted(int i) {
		return ONLY < 0 || i == ONLY;
	}

	/** Before each program. */
	public static synchronized void begin() {
		looseLeft = 300;
	}

	/** For a piece of work with its own dice. */
	public void start(long seed, int allCalls, int allPoints) {
		dice = seed * 0x9e3779b97f4a7c15L + 99991;
		calls = allCalls;
		points = allPoints;
	}

	public int roll(int sides) {
		dice = dice * 6364136223846793005L + 1442695040888963407L;
		return (int) ((dice >>> 33) % sides);
	}

	public void grow() {
		String[] moreNames = Arrays.copyOf(names, 2 * names.length);
		int[] moreLines = Arrays.copyOf(lines, 2 * lines.length);

		/* Both are there, so the stack cannot overflow between the two. */
		names = moreNames;
		lines = moreLines;
	}

	/** For constructors, whose frame is there before they may have a local. */
	public int enter(String name, int line) {
		if (depth >= lines.length)
			grow();
		names[depth] = name;
		lines[depth++] = line;
		return 0;
	}

	/** The same of one that the JDK calls, which cannot restore the depth: it begins at the base. */
	public int enterAtBase(String name, int line) {
		depth = base;
		return enter(name, line);
	}

	/** Of such a frame, too. */
	public int leave() {
		depth--;
		return 0;
	}

	public int quiet(int more) {
		quiet += more;
		return 0;
	}

	/** For what the virtual machine calls at any line, a class loader: that is not known. Returns what it was. */
	public int hide() {
		int line = depth > 0 ? lines[depth - 1] : 0;

		unhide(HIDDEN);
		return line;
	}

	public void unhide(int line) {
		if (depth > 0)
			lines[depth - 1] = line;
	}

	/** The line of the innermost frame, in the middle of an expression. */
	public int at(int line) {
		lines[depth - 1] = line;
		return 0;
	}

	/** Not in initialisers, nor in methods with a lock: the threads might wait for the class or the lock. */
	public boolean mayStartThreads() {
		for (int i = 0; i < depth; i++)
			if (names[i].endsWith("<clinit>") || names[i].endsWith("Sync"))
				return false;
		return loose == 0 && threads-- > 0;
	}

	public int point(String token) {
		String stack = stack();

		synchronized (Shadow.class) {
			if (loose > 0 && looseLeft-- <= 0)
				return 0;
			System.out.println((loose > 0 ? "loose " : "point ") + token + ' ' + stack);
			if (IS_WALKED)
				walk(stack);
		}
		return 0;
	}

	/** One number has one stack. Not the other way round: a line may have two calls. */
	public int capture(long context) {
		String stack = stack();

		synchronized (Shadow.class) {
			String other = context != 0 ? SEEN.putIfAbsent(context, stack) : null;
			if (other != null && !other.equals(stack))
				isWrong("context " + context + " is " + other + " and " + stack);
		}
		return 0;
	}

	private String stack() {
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < depth; i++)
			text.append(i > 0 ? ";" : "").append(names[i]).append(':').append(lines[i]);
		return text.toString();
	}

	/** Lines that 10 divides have methods that only the compiler knows. Anonymous and local classes and lambdas have no numbers. */
	private static List<String> compared(List<StackWalker.StackFrame> frames) {
		List<String> ret = new ArrayList<>();
		boolean isBelowLoader = false;

		for (StackWalker.StackFrame frame : frames) {
			String name = frame.getClassName() + '.' + frame.getMethodName();

			if (!name.matches("p[0-9]+\\..*"))
				continue;
			if (isBelowLoader || frame.getLineNumber() % 10 > 0)
				ret.add(name.replaceAll("\\$[0-9]+", "\\$") + ':' + (isBelowLoader ? HIDDEN : frame.getLineNumber()));
			isBelowLoader = name.endsWith(".Loader.loadClass");
		}
		Collections.reverse(ret);
		return ret;
	}

	private static void walk(String stack) {
		List<StackWalker.StackFrame> frames = WALKER.walk(all -> all.collect(Collectors.toList()));
		String walked = String.join(";", compared(frames));

		if (!walked.equals(stack))
			isWrong("the shadow stack is " + stack + ", the stack " + walked);
	}

	private static void isWrong(String what) {
		if (wrong++ < 10)
			System.err.println("wrong: " + what);
	}

	/** Always, which the compiler does not know. */
	public static boolean yes() {
		return WALKER != null;
	}

	/** Throws it as it is. */
	@SuppressWarnings("unchecked")
	public static <T extends Throwable> RuntimeException sneak(Throwable thrown) throws T {
		throw (T) thrown;
	}

	/** After all programs. */
	static boolean isRight() {
		return wrong == 0;
	}
}
