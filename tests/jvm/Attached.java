import dev.waymark.Waymark;
import java.util.List;

/** What attach.c calls, from threads that it has made itself; calls back into C, which calls back here. */
public final class Attached {
	/** Calls `inner`, or `thrower`, or throws itself: attach.c. */
	static native void callback(int what);

	static void inner(int value) {
		Waymark.event("inner", value);
	}

	static void thrower() {
		inner(0);
		throw new IllegalStateException("thrown in Java");
	}

	/** Each way through C. */
	static void outer(int what) {
		try {
			callback(what);
			Waymark.event("returned", 1);
		} catch (IllegalStateException e) {
			Waymark.event("caught", 1);
		}
	}

	/** Called by C where no method of Java is; leaves by an exception. */
	static void work(int ways) {
		for (int i = 0; i < ways; i++)
			outer(i);
		List.of(ways - 1).forEach(Attached::outer);
		thrower();
	}

	/** Its JNI_OnLoad calls `inner`, and registers `loaded`. */
	static void load(String library) {
		System.load(library);
		loaded();
	}

	static native void loaded();
}
