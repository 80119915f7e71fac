import java.util.ArrayList;
import java.util.List;

/**
 * A program whose calling-context tree is known; prints its number of nodes. The comments count the nodes that a line brings. Methods
 * without calls have none.
 */
public final class Check {
	private static int entered;

	private Check(int n) { // two sites make objects: 2
		this(fail(n), 0);
		leaf();
	}

	private Check(int n, int m) { // from the second only: 1
		leaf();
	}

	private static void leaf() {
		entered++;
	}

	private static int same(int n) {
		return n;
	}

	private static int fail(int n) { // below both: 2
		if (n > 0)
			throw new IllegalStateException();
		return same(n);
	}

	private static void one() {
		leaf();
	}

	private static void descend(int n) {
		if (n == 0)
			throw new IllegalArgumentException();
		descend(n - 1);
	}

	private static void twice(int n) {
		if (n == 0) {
			one();
			return;
		}
		twice(n - 1);
		twice(n - 1);
	}

	private static void again() {
		List<Integer> list = new ArrayList<>(List.of(3, 2, 1));

		try {
			descend(3); // 4
		} catch (IllegalArgumentException e) {
			one(); // 1
		}
		try {
			new Check(1);
		} catch (IllegalStateException e) {
			one(); // 1
		}
		twice(3); // 1 + 2 + 4 + 8, and 8 of one()
		list.sort((a, b) -> {
			one();
			return Integer.compare(a, b);
		}); // the lambda and one(): 2
	}

	public static void main(String[] args) { // 1
		for (int i = 0; i < 10; i++)
			again(); // 1
		new Check(0);
		if (entered != 10 * (2 + 8 + 2) + 2)
			throw new AssertionError(entered + " leaves");
		System.out.println(2 + 1 + 2 + 4 + 1 + 1 + 15 + 8 + 2 + 1 + 1);
	}
}
