package random;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Calls into the JDK that are no expression. They are instrumented and not on the shadow stack. */
public final class Calls {
	private Calls() {
	}

	public static int all(Iterable<Integer> each, Consumer<Integer> callback) {
		each.forEach(callback);
		return 1;
	}

	public static int all(Iterator<Integer> each, Consumer<Integer> callback) {
		each.forEachRemaining(callback);
		return 1;
	}

	public static int stream(Collection<Integer> each, Consumer<Integer> callback) {
		each.stream().peek(callback).forEachOrdered(callback);
		return 1;
	}

	public static int sorted(Comparator<Integer> order) {
		List<Integer> list = new ArrayList<>(List.of(3, 1, 2));

		list.sort(order);
		return list.get(0);
	}

	public static int queue(Comparator<Integer> order) {
		PriorityQueue<Integer> queue = new PriorityQueue<>(order);

		queue.addAll(List.of(3, 1, 2));
		return queue.poll();
	}

	@SuppressWarnings("removal")
	public static int privileged(Function<Integer, Integer> callback) {
		return AccessController.doPrivileged((PrivilegedAction<Integer>) () -> callback.apply(1));
	}

	public static int replaced(Function<Integer, Integer> callback) {
		List<Integer> list = new ArrayList<>(List.of(3, 1));

		list.replaceAll(callback::apply);
		return list.get(0);
	}

	/** Each stage is called, and what it throws is kept for the next. */
	public static int completed(Function<Integer, Integer> callback) {
		return CompletableFuture.completedFuture(1).thenApply(callback).handle((n, thrown) -> callback.apply(2)).exceptionally(thrown -> 3)
				.thenApply(callback).whenComplete((n, thrown) -> callback.apply(4)).handle((n, thrown) -> thrown == null ? n : 5).join();
	}

	/** All handlers are called; what the first throws comes out at the end. */
	public static int closed(Supplier<Integer> callback) {
		Stream.of(1).onClose(callback::get).onClose(callback::get).onClose(callback::get).close();
		return 1;
	}

	/** The same of a stream of streams, which are closed in the middle. */
	public static int released(Supplier<Integer> callback) {
		return (int) Stream.of(1, 2).flatMap(n -> Stream.of(n).onClose(callback::get).onClose(callback::get)).filter(n -> n > 0).count();
	}

	/** Called by one call of the JDK, whatever it throws. */
	public static int closed(Runnable callback) {
		Stream.of(1).onClose(callback).onClose(callback).onClose(callback).close();
		return 1;
	}
}
