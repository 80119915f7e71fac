import dev.waymark.Waymark;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;

/** A program whose classes TimingAgent changes, if it is there, when they are loaded and while their methods are on the stack. */
public final class Beside {
	private static int points;

	static void point() {
		Waymark.event("point", ++points);
	}

	/** The agent, if it is there, gives the class other code. */
	static void change(Class<?> changed) {
		try {
			Class.forName("TimingAgent").getMethod("change", Class.class).invoke(null, changed);
		} catch (ClassNotFoundException e) {
			point();
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	/* ---- replaced methods go on ---- */

	static int recursion(int depth) {
		if (depth == 0)
			return 0;
		point();
		if (depth % 3 == 0)
			change(Beside.class);
		int below = recursion(depth - 1);
		point();
		return below + 1;
	}

	static int callbacks() {
		List<Integer> list = new ArrayList<>(List.of(5, 3, 4, 1, 2));
		int[] calls = {0};

		list.sort((a, b) -> {
			if (++calls[0] == 3)
				change(Beside.class);
			point();
			return Integer.compare(a, b);
		});
		list.forEach(n -> point());
		return list.get(0);
	}

	static int thrown(int depth) {
		try {
			if (depth == 0) {
				change(Beside.class);
				throw new IllegalStateException("deep");
			}
			return thrown(depth - 1);
		} finally {
			point();
		}
	}

	/* ---- constructors: the call of the superclass's is in progress when they are replaced ---- */

	static final class Ordered extends TreeSet<BesideKey> {
		private static final long serialVersionUID = 1;

		Ordered(int changed) {
			super(keys(changed));
			point();
		}

		private static List<BesideKey> keys(int changed) {
			List<BesideKey> ret = new ArrayList<>();

			for (int i = 0; i < 5; i++)
				ret.add(new BesideKey(i * 7 % 5, changed == i));
			return ret;
		}
	}

	static void constructors() {
		for (int i = 0; i < 3; i++)
			if (new Ordered(i).size() != 5)
				throw new AssertionError();
	}

	/* ---- classes that are loaded in the midst of a method, some by instructions that call nothing ---- */

	static int loads(Object o) {
		int sum = 0;

		point();
		if (o instanceof BesideFirst)
			sum++;
		Object[] array = new BesideSecond[2];
		try {
			point();
			sum += ((BesideThird) o).value;
		} catch (ClassCastException e) {
			point();
		}
		return sum + array.length + BesideThird.class.getName().length();
	}

	static final class BesideFirst {
		int value;
	}

	static final class BesideSecond {
		int value;
	}

	static final class BesideThird {
		int value;
	}

	public static void main(String[] arguments) throws InterruptedException {
		System.out.println("loads " + loads("object"));
		System.out.println("recursion " + recursion(10));
		System.out.println("callbacks " + callbacks());
		try {
			thrown(5);
		} catch (IllegalStateException e) {
			System.out.println("thrown " + e.getMessage());
		}
		constructors();
		Thread thread = new Thread(() -> recursion(7));
		thread.start();
		thread.join();
		System.out.println("sorted " + Arrays.asList("b", "a"));
	}
}

/** Compared by the constructor of TreeSet. */
final class BesideKey implements Comparable<BesideKey> {
	private final int value;
	private final boolean isChanging;

	BesideKey(int value, boolean isChanging) {
		this.value = value;
		this.isChanging = isChanging;
	}

	@Override
	public int compareTo(BesideKey other) {
		Beside.point();
		if (isChanging)
			Beside.change(Beside.Ordered.class);
		Beside.point();
		return Integer.compare(value, other.value);
	}
}
