package random;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Inherits forEachRemaining from the JDK. */
public final class Counting implements Iterator<Integer> {
	private int left;

	public Counting(int count) {
		left = count;
	}

	@Override
	public boolean hasNext() {
		return left > 0;
	}

	@Override
	public Integer next() {
		if (left == 0)
			throw new NoSuchElementException();
		return left--;
	}
}
