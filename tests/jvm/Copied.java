/** Copies arrays of objects for so many milliseconds of the clock: what some collectors do for that is in the virtual machine itself. */
public final class Copied {
	private static final Object[] FROM = new Object[2048];
	private static final Object[] TO = new Object[2048];

	private Copied() {
	}

	private static void copies() {
		for (int i = 0; i < 3000; i++)
			System.arraycopy(FROM, 0, TO, 0, FROM.length - (i & 63));
	}

	public static void main(String[] arguments) {
		for (int i = 0; i < FROM.length; i++)
			FROM[i] = new Object();
		long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1000000;
		while (System.nanoTime() < end)
			copies();
	}
}
