import dev.waymark.Waymark;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Tasks of an ExecutorService, of a queue of the program's own, in other tasks, with results and exceptions, and one that enqueues itself. Each method keeps
 * a shadow stack; each check prints the token and that stack, and records an event.
 */
public final class Tasks {
	private static final ThreadLocal<List<String>> SHADOW = ThreadLocal.withInitial(ArrayList::new);
	private static final ExecutorService POOL = Executors.newFixedThreadPool(2);
	private static final List<Future<?>> FUTURES = new ArrayList<>();
	private static volatile Object kept;

	private Tasks() {
	}

	/** A method of the shadow stack, until it is closed. */
	private record Frame(List<String> stack, int depth) implements AutoCloseable {
		static Frame enter(String name) {
			List<String> stack = SHADOW.get();
			Frame frame = new Frame(stack, stack.size());

			stack.add("Tasks" + name);
			return frame;
		}

		@Override
		public void close() {
			while (stack.size() > depth)
				stack.remove(stack.size() - 1);
		}
	}

	/** The shadow stack of a task: that of who has enqueued it. */
	private static List<String> copy() {
		List<String> copy = new ArrayList<>(SHADOW.get());

		copy.add("[task]");
		return copy;
	}

	private static void check() {
		String line = Waymark.token() + "\t" + String.join(";", SHADOW.get());

		Waymark.event("check", 1);
		synchronized (Tasks.class) {
			System.out.println(line);
		}
	}

	private static void allocates() {
		try (Frame frame = Frame.enter(".allocates")) {
			kept = new byte[1 << 22];
		}
	}

	private static final class Job implements Runnable {
		private final List<String> enqueued = copy();
		private final int n;

		Job(int n) {
			this.n = n;
		}

		@Override
		public void run() {
			List<String> outside = SHADOW.get();

			SHADOW.set(new ArrayList<>(enqueued));
			try (Frame frame = Frame.enter("$Job.run")) {
				check();
				deep(n);
				allocates();
				if (n > 1)
					submit(n - 2);
			} finally {
				SHADOW.set(outside);
			}
		}
	}

	private static final class Result implements Callable<Object> {
		private final List<String> enqueued = copy();

		@Override
		public Object call() {
			SHADOW.set(new ArrayList<>(enqueued));
			try (Frame frame = Frame.enter("$Result.call")) {
				check();
				throw new IllegalStateException();
			} finally {
				SHADOW.remove();
			}
		}
	}

	/** It enqueues itself: the same context from the second time on. */
	private static final class Again implements Runnable {
		private static List<String> second;
		private final List<String> enqueued;
		private final ExecutorService single;
		private final int n;

		Again(ExecutorService single, int n, List<String> enqueued) {
			this.single = single;
			this.n = n;
			this.enqueued = enqueued;
		}

		@Override
		public void run() {
			SHADOW.set(new ArrayList<>(enqueued));
			try (Frame frame = Frame.enter("$Again.run")) {
				check();
				if (second == null)
					second = copy();
				if (n == 0)
					single.shutdown();
				else
					single.execute(Waymark.task(new Again(single, n - 1, second)));
			} finally {
				SHADOW.remove();
			}
		}
	}

	private static void deep(int n) {
		try (Frame frame = Frame.enter(".deep")) {
			check();
			if (n > 0)
				deep(n - 1);
			check();
		}
	}

	private static void submit(int n) {
		try (Frame frame = Frame.enter(".submit")) {
			Runnable task = Waymark.task(new Job(n));

			synchronized (FUTURES) {
				FUTURES.add(POOL.submit(task));
			}
		}
	}

	private static void serve(int n) {
		try (Frame frame = Frame.enter(".serve")) {
			submit(n);
			synchronized (FUTURES) {
				FUTURES.add(POOL.submit(Waymark.task(new Result())));
			}
			if (n > 0)
				serve(n - 1);
		}
	}

	private static void waitForAll() throws InterruptedException {
		for (int i = 0;; i++) {
			Future<?> future;

			synchronized (FUTURES) {
				if (i == FUTURES.size())
					return;
				future = FUTURES.get(i);
			}
			try {
				future.get();
			} catch (java.util.concurrent.ExecutionException e) {
				if (!(e.getCause() instanceof IllegalStateException))
					throw new AssertionError(e);
			}
		}
	}

	private record Entry(long context, List<String> shadow) {
	}

	/** A queue of the program's own, in one thread; tasks in tasks. */
	private static void loop() {
		try (Frame frame = Frame.enter(".loop")) {
			LinkedBlockingQueue<Entry> queue = new LinkedBlockingQueue<>();

			asks(queue, 2);
			Waymark.endTask();
			for (Entry entry = queue.poll(); entry != null; entry = queue.poll())
				takes(entry, queue.peek());
			check();
		}
	}

	private static void asks(LinkedBlockingQueue<Entry> queue, int n) {
		try (Frame frame = Frame.enter(".asks")) {
			queue.add(new Entry(Waymark.capture(), copy()));
			if (n > 0)
				asks(queue, n - 1);
		}
	}

	private static void takes(Entry entry, Entry other) {
		List<String> outside = SHADOW.get();

		Waymark.beginTask(entry.context);
		SHADOW.set(new ArrayList<>(entry.shadow));
		try (Frame frame = Frame.enter(".takes")) {
			check();
			deep(1);
			if (other != null)
				takes(other, null);
			check();
		} finally {
			SHADOW.set(outside);
			Waymark.endTask();
		}
		inner();
	}

	private static void inner() {
		try (Frame frame = Frame.enter(".takes"); Frame own = Frame.enter(".inner")) {
			check();
		}
	}

	public static void main(String[] arguments) throws InterruptedException {
		try (Frame frame = Frame.enter(".main")) {
			ExecutorService single = Executors.newSingleThreadExecutor();

			serve(3);
			waitForAll();
			POOL.shutdown();
			loop();
			single.execute(Waymark.task(new Again(single, 4, copy())));
			while (!single.isTerminated())
				Thread.sleep(1);
			check();
		}
	}
}
