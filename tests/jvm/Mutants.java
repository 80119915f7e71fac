import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;

/** Changes a byte of Mutated's class file, or its length, and prints what becomes of it when it is linked. Arguments: a seed, how often. */
public final class Mutants {
	private static final int HEADER = 10; /* magic, versions, count of constants */

	private Mutants() {
	}

	/** Finds the classes of the JDK and nothing else: what a changed name asks for is not there. */
	private static final class Loader extends ClassLoader {
		Loader() {
			super(Mutants.class.getClassLoader());
		}

		Class<?> define(byte[] bytes) {
			return defineClass(null, bytes, 0, bytes.length);
		}

		@Override
		protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
			if (name.startsWith("java."))
				return super.loadClass(name, isResolved);
			throw new ClassNotFoundException(name);
		}
	}

	private static String link(byte[] bytes) {
		try {
			Class<?> defined = new Loader().define(bytes);

			Class.forName(defined.getName(), true, defined.getClassLoader());
			return "linked";
		} catch (ClassNotFoundException | LinkageError | RuntimeException e) {
			return e.getClass().getName();
		}
	}

	/** The change; bytes[0] is replaced where the length changes. */
	private static String change(byte[][] bytes, Random random) {
		int length = bytes[0].length, kind = random.nextInt(20);

		if (kind == 0) {
			bytes[0] = Arrays.copyOf(bytes[0], length + 1 + random.nextInt(4));
			return "longer";
		}
		if (kind == 1) {
			bytes[0] = Arrays.copyOf(bytes[0], length - 1 - random.nextInt(4));
			return "shorter";
		}
		int at = HEADER + random.nextInt(length - HEADER);
		int value = kind < 7 ? bytes[0][at] + 1 : kind < 13 ? bytes[0][at] - 1 : random.nextInt(256);

		bytes[0][at] = (byte) value;
		return "byte " + at + " to " + (value & 255);
	}

	public static void main(String[] args) throws IOException {
		Random random = new Random(Long.parseLong(args[0]));
		byte[] original;

		try (InputStream in = Mutants.class.getResourceAsStream("Mutated.class")) {
			original = in.readAllBytes();
		}
		System.out.println("original: " + link(original));
		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			byte[][] bytes = {original.clone()};
			String what = change(bytes, random);

			System.out.println(what + ": " + link(bytes[0]));
		}
	}
}
