package random;

/** What the generated programs throw. */
public final class Fail extends RuntimeException {
	private static final long serialVersionUID = 1;

	public Fail(int n) {
		super("fail " + n);
	}
}
