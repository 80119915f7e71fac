package random;

/**
 * The text of a generated program, which knows its line numbers. Lines that 10 divides have what makes the compiler add methods of its
 * own, and nothing else: heads of classes (bridges, default constructors, what a record has) and references that become lambdas.
 */
final class Source {
	private static final int SPECIAL = 10;

	private final StringBuilder text = new StringBuilder();
	private int line = 1;
	private int indent;

	private static int ordinary(int line) {
		return line % SPECIAL == 0 ? line + 1 : line;
	}

	/** Where the line after the next one will be. */
	int lineAfterNext() {
		return ordinary(ordinary(line) + 1);
	}

	/** Where the next line will be. */
	int nextLine() {
		return ordinary(line);
	}

	private void write(String code) {
		if (code.startsWith("}"))
			indent--;
		text.append("\t".repeat(indent)).append(code).append('\n');
		line++;
		if (code.endsWith("{"))
			indent++;
	}

	void put(String code) {
		if (line % SPECIAL == 0) {
			text.append('\n');
			line++;
		}
		write(code);
	}

	void put(String format, Object... arguments) {
		put(String.format(format, arguments));
	}

	void putSpecial(String code) {
		for (; line % SPECIAL != 0; line++)
			text.append('\n');
		write(code);
	}

	@Override
	public String toString() {
		return text.toString();
	}
}
