import dev.waymark.Waymark;
import java.io.IOException;
import java.io.InputStream;

/** Classes that cannot be rewritten, or not under a name that their loader gives; prints what the agent must not change. */
public final class Refused {
	/** Defines what it is handed. */
	private static final class Loader extends ClassLoader {
		Loader() {
			super(Refused.class.getClassLoader());
		}

		Class<?> define(String name, byte[] bytes) {
			return defineClass(name, bytes, 0, bytes.length);
		}
	}

	/** Defined without a name. */
	public static final class Nameless implements Runnable {
		@Override
		public void run() {
			Refused.record("nameless");
		}
	}

	public static void record(String name) {
		Waymark.event(name, 1);
	}

	private static byte[] bytesOf(String name) throws IOException {
		try (InputStream in = Refused.class.getResourceAsStream(name + ".class")) {
			return in.readAllBytes();
		}
	}

	/** Of a newer version than any that is known. */
	private static void defineNew(String name) throws IOException {
		byte[] bytes = bytesOf("Refused$Nameless");

		bytes[7] = 70;
		try {
			new Loader().define(name, bytes);
		} catch (UnsupportedClassVersionError e) {
			System.out.println("too new");
		}
	}

	public static void main(String[] arguments) throws Exception {
		defineNew("Refused$Nameless");
		defineNew(null);
		((Runnable) new Loader().define(null, bytesOf("Refused$Nameless")).getDeclaredConstructor().newInstance()).run();
		System.out.println("large " + RefusedLarge.large(0));
		System.out.println("ran" + (arguments.length > 0 ? " instrumented " + Waymark.isInstrumented() : ""));
	}
}
