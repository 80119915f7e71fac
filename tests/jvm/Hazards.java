import dev.waymark.Waymark;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Ways to enter and leave methods that a context must survive. Each point prints its token and, behind it, the stack as StackWalker has
 * it: methods of this file with their lines, outermost first.
 */
public final class Hazards {
	private static final StackWalker WALKER = StackWalker.getInstance();
	private static int points;

	public static synchronized void point() {
		String token = Waymark.token();
		List<String> frames = WALKER.walk(all -> all.filter(frame -> frame.getClassName().startsWith("Hazards"))
				.map(frame -> frame.getClassName() + '.' + frame.getMethodName() + ':' + frame.getLineNumber())
				.collect(Collectors.toList()));

		Collections.reverse(frames);
		/* Of this frame the walk has the line of the walk; that of the token is two above it. */
		frames.remove(frames.size() - 1);
		System.out.println("point " + token + ' ' + String.join(";", frames));
		points++;
	}

	/* ---- recursion ---- */

	static int fibonacci(int n) {
		if (n < 2) {
			point();
			return n;
		}
		return fibonacci(n - 1) + fibonacci(n - 2);
	}

	static void even(int n) {
		if (n == 0)
			point();
		else
			odd(n - 1);
	}

	static void odd(int n) {
		if (n == 0)
			point();
		else
			even(n - 1);
	}

	/* Deeper than the first context stack. */
	static final int DEEP = Integer.getInteger("deep", 1000);

	/* As deep as the thread's stack allows. */
	static int depth;

	static void overflow() {
		depth++;
		overflow();
	}

	static void recursion() {
		fibonacci(6);
		even(7);
		even(DEEP);
		try {
			overflow();
		} catch (StackOverflowError e) {
			point();
		}
		point();
	}

	/* ---- exceptions ---- */

	static void thrower(int n) {
		if (n == 0)
			throw new IllegalStateException("thrown");
		try {
			thrower(n - 1);
		} finally {
			if (n % 3 == 0)
				point();
		}
	}

	static final class Failing implements Iterator<Integer> {
		private int left = 3;

		@Override
		public boolean hasNext() {
			point();
			return left > 0;
		}

		@Override
		public Integer next() {
			left--;
			return deep(left);
		}

		private static int deep(int n) {
			if (n == 0)
				throw new IllegalArgumentException("deep");
			return n;
		}
	}

	/* The JDK catches what a callback throws, and goes on to call others. */
	static void caughtByForeign() throws Exception {
		ExecutorService one = Executors.newSingleThreadExecutor();
		List<Callable<Integer>> tasks = new ArrayList<>();

		for (int i = 0; i < 4; i++) {
			int n = i;
			tasks.add(() -> {
				point();
				thrower(n);
				return n;
			});
		}
		one.invokeAll(tasks);
		one.shutdown();
	}

	static class Refusing {
		Refusing() {
			throw new IllegalStateException("refused");
		}
	}

	static final class Refused extends Refusing {
	}

	/* Calls a constructor without sites, behind a call. */
	static final class RefusedLater {
		private final int value;

		RefusedLater() {
			this(reflected(7));
		}

		RefusedLater(int value) {
			this.value = 1 / (value - 7);
		}
	}

	static final class RefusedTwice extends Exception {
		RefusedTwice() {
			super((String) new Refused().toString());
		}
	}

	/* A constructor of an exception, by the JDK's own: it prints this one. */
	static final class Printing extends Exception {
		Printing() {
			super("printing", null);
		}

		@Override
		public synchronized Throwable fillInStackTrace() {
			point();
			throw new IllegalStateException("not filled in");
		}
	}

	/* No frame of the constructor can undo what it has stored before super(). The foreign code goes on with another method. */
	static void superCaughtByForeign() throws Exception {
		ExecutorService one = Executors.newSingleThreadExecutor();
		List<Callable<Object>> tasks = new ArrayList<>();

		for (int i = 0; i < 3; i++) {
			tasks.add(Refused::new);
			tasks.add(() -> {
				point();
				return null;
			});
			tasks.add(RefusedTwice::new);
			tasks.add(new Pointing());
			tasks.add(RefusedLater::new);
			tasks.add(new Pointing());
			tasks.add(Printing::new);
			tasks.add(new Pointing());
		}
		one.invokeAll(tasks);
		one.shutdown();
	}

	static final class Pointing implements Callable<Object> {
		@Override
		public Object call() {
			point();
			point();
			return null;
		}
	}

	static void exceptions() throws Exception {
		try {
			thrower(10);
		} catch (IllegalStateException e) {
			point();
		}
		try {
			new Failing().forEachRemaining(n -> point());
		} catch (IllegalArgumentException e) {
			point();
		}
		caughtByForeign();
		superCaughtByForeign();
		point();
	}

	/* ---- callbacks ---- */

	static final class Key implements Comparable<Key> {
		private final int value;

		Key(int value) {
			this.value = value;
		}

		@Override
		public int compareTo(Key other) {
			if (value == 3)
				point();
			return Integer.compare(value, other.value);
		}

		@Override
		public String toString() {
			point();
			return "key " + value;
		}

		@Override
		public int hashCode() {
			point();
			return value;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Key && ((Key) other).value == value;
		}
	}

	/** Methods of the JDK that do not look as if they called anything. */
	static void quietLooking() {
		Object[] left = {new Talking()}, right = {new Talking()};
		char[] text = {'b', 'a'};

		reflected(1);
		if (Arrays.equals(left, right))
			point();
		reflected(2);
		String.valueOf(left[0]);
		Objects.hashCode(left[0]);
		Arrays.sort(text);
		Objects.requireNonNull(left, () -> {
			point();
			return "null";
		});
		String.join(",", List.of(new StringBuilder(String.valueOf(text)).append(left[0])));
	}

	static final class Talking {
		@Override
		public int hashCode() {
			point();
			return 1;
		}

		@Override
		public boolean equals(Object other) {
			point();
			return other == this;
		}

		@Override
		public String toString() {
			reflected(3);
			return super.toString();
		}
	}

	/** Made by the initialiser of a class of the JDK. */
	public static final class Factory implements ForkJoinPool.ForkJoinWorkerThreadFactory {
		public Factory() {
			point();
		}

		@Override
		public ForkJoinWorkerThread newThread(ForkJoinPool pool) {
			return ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
		}
	}

	static void initialisesJdk() {
		System.setProperty("java.util.concurrent.ForkJoinPool.common.threadFactory", "Hazards$Factory");
		reflected(1);
		new CompletableFuture<String>().complete("done");
	}

	static void callbacks() {
		List<Key> keys = new ArrayList<>();
		TreeMap<Key, String> map = new TreeMap<>();

		for (int i = 5; i > 0; i--)
			keys.add(new Key(i));
		Collections.sort(keys);
		keys.sort((a, b) -> {
			if (a.value == 2)
				point();
			return b.compareTo(a);
		});
		for (Key key : keys)
			map.put(key, "value");
		StringJoiner joiner = new StringJoiner(",");
		joiner.add("first " + keys.get(0)).add(String.valueOf(keys.get(1)));
		keys.get(0).hashCode();
		Collections.singletonMap(keys.get(0), map).hashCode();
		IntStream.range(0, 3).mapToObj(Key::new).map(Key::toString).forEach(text -> point());
	}

	/* ---- method handles, reflection, proxies ---- */

	interface Shape {
		int area(int side);

		default int twice(int side) {
			point();
			return 2 * area(side);
		}
	}

	static int reflected(int n) {
		point();
		return n;
	}

	static int failing() {
		throw new IllegalStateException("reflected");
	}

	/* 20 times: the JDK makes a class for a method that is called often. */
	static void reflection() throws Exception {
		Method method = Hazards.class.getDeclaredMethod("reflected", int.class);
		Method failing = Hazards.class.getDeclaredMethod("failing");

		for (int i = 0; i < 20; i++)
			method.invoke(null, i);
		for (int i = 0; i < 20; i++) {
			try {
				failing.invoke(null);
			} catch (InvocationTargetException e) {
				point();
			}
		}
	}

	static void handles() throws Throwable {
		MethodHandle handle = MethodHandles.lookup().findStatic(Hazards.class, "reflected",
				MethodType.methodType(int.class, int.class));
		MethodHandle caught = MethodHandles.catchException(
				MethodHandles.lookup().findStatic(Hazards.class, "failing", MethodType.methodType(int.class)),
				IllegalStateException.class, MethodHandles.dropArguments(
						MethodHandles.insertArguments(handle, 0, 7), 0, IllegalStateException.class));

		if ((int) handle.invokeExact(4) + (int) caught.invokeExact() != 11)
			throw new AssertionError();
		Shape proxy = (Shape) Proxy.newProxyInstance(Hazards.class.getClassLoader(), new Class<?>[] {Shape.class},
				(self, method, arguments) -> {
					point();
					return 5;
				});
		proxy.area(3);
		Shape square = side -> {
			point();
			return side * side;
		};
		square.twice(3);
	}

	/* ---- classes ---- */

	static class Base {
		static {
			point();
		}
		static int field = 1;

		static int get() {
			return field;
		}
	}

	static class Derived extends Base {
		static {
			point();
		}
		static int other = Base.get();
	}

	static final class FailingClass {
		static final int VALUE;

		static {
			point();
			VALUE = failing();
		}
	}

	static class Constructed {
		private final int value;

		Constructed(int value) {
			this.value = check(value);
			point();
		}

		private static int check(int value) {
			if (value < 0)
				throw new IllegalArgumentException("negative");
			return value;
		}
	}

	static final class Outer extends Constructed {
		Outer(int value) {
			super(value > 10 ? new Key(value).hashCode() : argument(value));
			point();
		}

		Outer() {
			this(3);
			point();
		}

		private static int argument(int value) {
			point();
			if (value == 0)
				throw new IllegalStateException("zero");
			return value;
		}
	}

	static void constructors() throws Exception {
		int[] values = {1, 0, -1, 11};

		for (int value : values) {
			try {
				new Outer(value);
			} catch (IllegalStateException | IllegalArgumentException e) {
				point();
			}
		}
		new Outer();
		for (int value : values) {
			try {
				Outer.class.getDeclaredConstructor(int.class).newInstance(value);
			} catch (InvocationTargetException e) {
				point();
			}
		}
		for (Object each = null; each == null; each = new Object())
			point();
	}

	static void initialisers() {
		reflected(1);
		int got = Derived.other;

		point();
		for (int i = 0; i < 2; i++) {
			try {
				got += FailingClass.VALUE;
			} catch (ExceptionInInitializerError | NoClassDefFoundError e) {
				point();
			}
		}
	}

	/* ---- loaders ---- */

	/** Loads some classes itself, and is called by the virtual machine wherever their code names a class for the first time. */
	static final class Loader extends ClassLoader {
		Loader() {
			super(Hazards.class.getClassLoader());
		}

		@Override
		protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
			Class<?> known = findLoadedClass(name);

			point();
			if (known != null || !name.startsWith("Hazards$Loaded"))
				return known != null ? known : super.loadClass(name, isResolved);
			try (InputStream in = getResourceAsStream(name + ".class")) {
				byte[] bytes = in.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	/** Each loaded by a Loader; Runnable is all that the two sides share. */
	static class LoadedBase implements Runnable {
		static final List<Object> SEEN = new ArrayList<>();

		static {
			point();
		}

		@Override
		public void run() {
			Object[] all = {new LoadedOther(), LoadedOther.value, new LoadedOther[1][1]};

			for (Object each : all)
				SEEN.add(each instanceof LoadedOther ? (LoadedOther) each : each.toString());
			point();
			Runnable later = LoadedOther::statically;
			later.run();
		}
	}

	public static final class Loaded extends LoadedBase {
		public Loaded() {
			point();
		}

		@Override
		public void run() {
			StringBuilder text = new StringBuilder();

			text.append(new TreeMap<String, Integer>()).append(Math.max(1, 2));
			super.run();
			point();
		}
	}

	static final class LoadedOther {
		static Object value = made();

		static Object made() {
			point();
			return 7;
		}

		static void statically() {
			point();
		}
	}

	/* 20 loaders, so that classes are unloaded. */
	static void loaders() throws Exception {
		for (int i = 0; i < 20; i++) {
			((Runnable) new Loader().loadClass("Hazards$Loaded").getDeclaredConstructor().newInstance()).run();
			if (i % 5 == 4)
				System.gc();
		}
	}

	/* ---- threads ---- */

	static void threads() throws InterruptedException {
		Thread[] all = new Thread[4];

		for (int i = 0; i < all.length; i++) {
			int n = i;
			all[i] = new Thread(() -> {
				fibonacci(3 + n);
				even(DEEP * 3 / 10 * n);
			});
			all[i].start();
		}
		for (Thread thread : all)
			thread.join();
		IntStream.range(0, 50).parallel().forEach(n -> even(n % 3));
	}

	/* long and double take two places each. */
	static double wide(long a, double b, int c, long d) {
		double sum = a + b;

		for (long i = 0; i < d; i++) {
			double part = sum * i;
			point();
			sum += part + reflected(c);
		}
		return sum;
	}

	static int switches(Object value) {
		switch (value.toString()) {
		case "one":
			return reflected(1);
		case "two":
			synchronized (value) {
				return reflected(2);
			}
		default:
			return value instanceof Integer ? reflected((Integer) value) : 0;
		}
	}

	public static void main(String[] arguments) throws Throwable {
		initialisesJdk();
		recursion();
		quietLooking();
		exceptions();
		callbacks();
		reflection();
		handles();
		constructors();
		initialisers();
		loaders();
		threads();
		wide(1, 2, 3, 4);
		switches("one");
		switches("two");
		switches(7);
		point();
		System.out.println("points " + points);
	}
}
