package dev.waymark;

import dev.waymark.agent.Recorder;
import dev.waymark.agent.Walker;
import java.util.concurrent.Callable;

/**
 * Calling contexts of the running thread: the chain of calls that leads here, as a small number.
 *
 * <p>Under the agent (libwaymark-jvm.so) each application method keeps its thread's context up to date, or, where the agent's clients walk the
 * stack, these methods do so, too. Without it nothing is kept:
 * {@link #capture} returns 0, {@link #token} says so, and {@link #event} does nothing. All methods may be called from any thread.
 */
public final class Waymark {
	private static final String NOT_INSTRUMENTED = "wm1:not-instrumented";

	private Waymark() {
	}

	/** Whether the agent keeps contexts in this process. */
	public static boolean isInstrumented() {
		return State.IS_ON;
	}

	/** The exact context of the caller. Equal contexts have equal numbers; the number means nothing in other processes. */
	public static long capture() {
		if (State.WALKS)
			return Walker.capture();
		return State.IS_ON ? Recorder.capture() : 0;
	}

	/** The exact context of the caller as printable text, which {@code waymark decode} finds in any log. */
	public static String token() {
		if (State.WALKS)
			return Walker.token(Walker.capture());
		return State.IS_ON ? Recorder.token() : NOT_INSTRUMENTED;
	}

	/** Appends the context, the time, the thread, the name and the value to the recording. name: not null. */
	public static void event(String name, long value) {
		if (State.WALKS)
			Walker.event(Walker.capture(), name, value);
		else if (State.IS_ON)
			Recorder.event(name, value);
	}

	/**
	 * The work as a task: wherever it is run, its contexts continue that of this call. For queues, thread pools and event loops:
	 *
	 * <pre>
	 *   executor.execute(Waymark.task(() -&gt; parse(file)));      App.main;App.serve;[task];App.lambda$serve$0;App.parse
	 * </pre>
	 *
	 * It may be run many times. work: not null.
	 */
	public static Runnable task(Runnable work) {
		if (State.WALKS)
			return new Task<Void>(Walker.capture(), work, null);
		return State.IS_ON ? new Task<Void>(Recorder.capture(), work, null) : work;
	}

	/** The same of work that has a result. */
	public static <T> Callable<T> task(Callable<T> work) {
		if (State.WALKS)
			return new Task<T>(Walker.capture(), null, work);
		return State.IS_ON ? new Task<T>(Recorder.capture(), null, work) : work;
	}

	/**
	 * The caller goes on with work that was enqueued in that context, the result of {@link #capture}, until {@link #endTask}, which is to be called in a
	 * {@code finally}. Tasks are nested: an inner one alone is in contexts until it ends. In a virtual thread it does nothing.
	 */
	public static void beginTask(long enqueued) {
		if (State.WALKS && !isVirtual())
			Walker.beginTask(enqueued, Walker.capture());
		else if (State.IS_ON && !isVirtual())
			Recorder.beginTask(enqueued);
	}

	/** The innermost task of this thread ends. Without one it does nothing. */
	public static void endTask() {
		if (State.WALKS && !isVirtual())
			Walker.endTask();
		else if (State.IS_ON && !isVirtual())
			Recorder.endTask();
	}

	/** Tasks are kept for threads of the operating system, and a virtual thread goes from one to another. */
	private static boolean isVirtual() {
		return State.VIRTUAL != null && State.VIRTUAL.isInstance(Thread.currentThread());
	}

	private static final class Task<T> implements Runnable, Callable<T> {
		private final long enqueued;
		private final Runnable work;
		private final Callable<T> result;

		Task(long enqueued, Runnable work, Callable<T> result) {
			this.enqueued = enqueued;
			this.work = work;
			this.result = result;
			if (work == null && result == null)
				throw new NullPointerException();
		}

		@Override
		public void run() {
			beginTask(enqueued);
			try {
				work.run();
			} finally {
				endTask();
			}
		}

		@Override
		public T call() throws Exception {
			beginTask(enqueued);
			try {
				return result.call();
			} finally {
				endTask();
			}
		}
	}

	/** The agent registers this method, in the one copy of the class that it has brought itself. */
	private static native boolean probe();

	/** A class of its own: the agent's look-up of this one initialises it, before the method is registered. */
	private static final class State {
		static final boolean IS_ON = isOn();
		static final boolean WALKS = IS_ON && Walker.isOn();
		/** null: this Java has none. */
		static final Class<?> VIRTUAL = virtual();

		private static Class<?> virtual() {
			try {
				return Class.forName("java.lang.BaseVirtualThread");
			} catch (ClassNotFoundException e) {
				return null;
			}
		}

		private static boolean isOn() {
			try {
				return probe();
			} catch (UnsatisfiedLinkError e) {
				return false;
			}
		}
	}
}
