package random;

/** Run FIRST LAST - runs the programs of these seeds, one after the other. */
public final class Run {
	private Run() {
	}

	public static void main(String[] arguments) throws ReflectiveOperationException {
		for (int seed = Integer.parseInt(arguments[0]); seed <= Integer.parseInt(arguments[1]); seed++) {
			Class.forName("p" + seed + ".Main").getMethod("run").invoke(null);
			System.out.println("ended " + seed);
		}
		if (!Shadow.isRight())
			throw new AssertionError("shadow stacks or contexts are wrong");
	}
}
