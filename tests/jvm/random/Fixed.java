package random;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What all generated programs use and need not write themselves. It is instrumented and not on the shadow stack. */
public final class Fixed {
	/** A function of the program. */
	public interface F {
		int on(Shadow s, int n);
	}

	/** A method of an object that comes with the call. */
	public interface Unbound<C> {
		int on(C object, Shadow s, int n);
	}

	/** A constructor. */
	public interface Make<C> {
		C on(Shadow s, int n);
	}

	/** Calls what a local class overrides. */
	public abstract static class Based implements F {
		public int based(Shadow s, int n) {
			return on(s, n + 1);
		}
	}

	private Fixed() {
	}

	public static int twice(Shadow s, Object function, int n) {
		return function instanceof F ? ((F) function).on(s, n) + ((F) function).on(s, n + 1) : 0;
	}

	/** Initialises a class of the program that `of` is in. */
	public static int named(Class<?> of, String name) {
		try {
			return Class.forName(of.getPackageName() + '.' + name, true, of.getClassLoader()).getName().length();
		} catch (ClassNotFoundException e) {
			throw new AssertionError(e);
		}
	}

	/** A static method's, of the type int (Shadow, int). */
	public static MethodHandle find(MethodHandles.Lookup lookup, Class<?> owner, String name) throws ReflectiveOperationException {
		return lookup.findStatic(owner, name, MethodType.methodType(int.class, Shadow.class, int.class));
	}

	private static void call(Callable<Integer> task) {
		try {
			task.call();
		} catch (Throwable e) {
			/* The thread ends. */
		}
	}

	private static void sneaking(Callable<Integer> task) {
		try {
			task.call();
		} catch (Exception e) {
			throw Shadow.<RuntimeException>sneak(e);
		}
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
	}

	/** A thread for each, one after the other or together. */
	public static int threads(List<Callable<Integer>> tasks, boolean isTogether) {
		List<Thread> all = new ArrayList<>();

		for (Callable<Integer> task : tasks) {
			Thread thread = new Thread(() -> {
				Shadow.get().apart = isTogether ? 1 : 0;
				sneaking(task);
			});
			/* The thread is not over yet: its handler is called by the JDK. */
			thread.setUncaughtExceptionHandler((self, thrown) -> call(task));
			thread.start();
			if (!isTogether)
				join(thread);
			all.add(thread);
		}
		all.forEach(Fixed::join);
		return 1;
	}

	public static int run(Runnable task) {
		task.run();
		return 1;
	}

	public static int started(Thread thread) {
		thread.start();
		join(thread);
		return 1;
	}

	/** One thread for all; it catches what they throw. */
	public static int executed(List<Callable<Integer>> tasks) {
		ExecutorService executor = Executors.newSingleThreadExecutor();
		int ret = 0;

		try {
			for (Future<Integer> each : executor.invokeAll(tasks))
				ret += result(each);
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		} finally {
			executor.shutdown();
		}
		return ret;
	}

	private static int result(Future<Integer> task) throws InterruptedException {
		try {
			return task.get();
		} catch (ExecutionException e) {
			return 0;
		}
	}
}
