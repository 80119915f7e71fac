import dev.waymark.Waymark;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A few events, for what reports show of Java. */
public final class Events {
	private static int sum(List<Integer> list, int from) {
		if (from == list.size()) {
			Waymark.event("sum", from);
			return 0;
		}
		return list.get(from) + sum(list, from + 1);
	}

	public static void main(String[] arguments) throws InterruptedException {
		List<Integer> list = new ArrayList<>(List.of(3, 1, 2));

		if (!Waymark.isInstrumented() || Waymark.capture() == Waymark.capture() || Waymark.capture() == 0)
			throw new AssertionError();
		Collections.sort(list, (a, b) -> {
			Waymark.event("compare", a);
			return Integer.compare(a, b);
		});
		sum(list, 0);
		Thread thread = new Thread(() -> Waymark.event("thread", 1));
		thread.start();
		thread.join();
		Runtime.getRuntime().halt(3);
	}
}
