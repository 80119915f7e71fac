import dev.waymark.Waymark;
import java.util.Map;
import java.util.TreeMap;

/** What the methods call that TimingAgent has changed. It captures contexts itself, also in a callback. */
public final class Timing {
	private static final Map<String, Integer> COUNTS = new TreeMap<>();

	private Timing() {
	}

	public static void begin(String method) {
		count(method, 1);
	}

	public static void end(String method) {
		count(method, 0);
		Waymark.event("end", 1);
	}

	private static synchronized void count(String method, int step) {
		COUNTS.merge(method, step, (old, by) -> {
			Waymark.event("count", by);
			return old + by;
		});
	}
}
