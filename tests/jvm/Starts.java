import dev.waymark.Waymark;

/** Makes an event of its first argument, then starts the program that the others say, with its own streams, and ends as that does. */
public final class Starts {
	private Starts() {
	}

	static void mark(String name) {
		if (Waymark.isInstrumented())
			Waymark.event(name, 1);
	}

	public static void main(String[] args) throws Exception {
		mark(args[0]);
		System.out.println(args[0] + " " + System.getProperty("of.tools") + " " + System.getProperty("of.launcher"));
		if (args.length > 1)
			System.exit(new ProcessBuilder(args).command(java.util.Arrays.copyOfRange(args, 1, args.length)).inheritIO().start().waitFor());
	}
}
