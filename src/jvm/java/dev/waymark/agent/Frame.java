package dev.waymark.agent;

/** A call of a stack, or all of its calls at one place. */
final class Frame {
	final Class<?> owner;
	/** class.methodDESCRIPTOR, with dots in the class. */
	final String method;
	/** Negative: not known to StackWalker. 0: not known. */
	final int line;
	/** Made when it is first asked for: a frame may stand for many at one place. */
	private String text;

	Frame(Class<?> owner, String method, int line) {
		this.owner = owner;
		this.method = method;
		this.line = line;
	}

	Frame(StackWalker.StackFrame frame, int line) {
		this(frame.getDeclaringClass(), frame.getClassName() + '.' + frame.getMethodName() + frame.getDescriptor(), line);
	}

	/** As the recorder describes sites. */
	@Override
	public String toString() {
		if (text == null)
			text = method + ':' + line;
		return text;
	}
}
