import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What Mutants changes bytes of: much of what a class file can have, and nothing that runs when it is initialised. */
public class Mutated implements Comparable<Mutated> {
	static final int CONSTANT = 7;

	@Deprecated
	public int unused;
	protected double sum = 1.5;
	private final long number;
	private String text;

	Mutated(long number, String text) {
		super();
		this.number = number;
		this.text = text;
	}

	@Override
	public int compareTo(Mutated other) {
		return Long.compare(number, other.number);
	}

	static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	long loop(int[] values, List<String> texts) throws IOException {
		long ret = 0;

		for (int value : values) {
			ret += value;
			switch (value) {
			case 1:
				ret++;
				break;
			case 1000:
				ret--;
				break;
			default:
				ret *= 2;
			}
		}
		try {
			for (String each : texts)
				ret += each.length();
		} catch (RuntimeException e) {
			ret = -1;
		} finally {
			text = "done" + ret;
		}
		synchronized (this) {
			sum += ret;
		}
		Runnable printing = () -> System.out.println(text);

		printing.run();
		return ret;
	}

	static Object make(String... names) {
		Object[][] table = new Object[2][3];

		table[0] = names;
		return new ArrayList<Object>(Arrays.asList(table)) {
			@Override
			public int size() {
				return CONSTANT;
			}
		};
	}
}
