import dev.waymark.Waymark;

/** Runs Tables (LineTables.java). Each point prints its token and where in Tables it is, as StackWalker has it. */
public final class Lines {
	private Lines() {
	}

	public static void point() {
		StackWalker.StackFrame frame = StackWalker.getInstance().walk(frames -> frames.skip(1).findFirst()).get();

		System.out.println("point " + Waymark.token() + ' ' + frame.getMethodName() + ':' + Math.max(frame.getLineNumber(), 0));
	}

	public static void main(String[] arguments) throws ReflectiveOperationException {
		((Runnable) Class.forName("Tables").getConstructor().newInstance()).run();
	}
}
