import java.util.ArrayList;
import java.util.List;

/** Allocates arrays in two places, and keeps those of one: Leaking TIMES. */
public final class Leaking {
	private static final int LARGE = 1 << 20;
	private static final List<Object> KEPT = new ArrayList<>();
	private static Object last;

	private Leaking() {
	}

	private static void keep() {
		KEPT.add(new byte[LARGE]);
	}

	private static void drop() {
		last = new byte[LARGE];
	}

	public static void main(String[] arguments) {
		for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
			keep();
			drop();
			drop();
		}
		last = null;
	}
}
