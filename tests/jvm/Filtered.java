import dev.waymark.Waymark;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Calls through another class of its own, and through the JDK. */
public final class Filtered {
	static final class Other {
		static void through(Runnable callback) {
			new TreeMap<String, Integer>().computeIfAbsent("key", key -> {
				callback.run();
				return 1;
			});
		}
	}

	static void called() {
		Waymark.event("called", 1);
	}

	public static void main(String[] arguments) {
		List<Runnable> all = new ArrayList<>();

		for (int i = 0; i < 3; i++)
			all.add(() -> Other.through(Filtered::called));
		all.forEach(Runnable::run);
	}
}
