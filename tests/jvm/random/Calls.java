package random;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Function;

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

}
