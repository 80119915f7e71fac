import dev.waymark.Waymark;

/** Constructors with code before super(...), as Java 25 has them: calls, branches, handlers and what is thrown there. */
public final class Prologue {
	static int checked(int n) {
		Waymark.capture();
		if (n < 0)
			throw new IllegalArgumentException("negative");
		return n;
	}

	static class Base {
		final int n;

		Base(int n) {
			this.n = checked(n);
			seen();
		}

		void seen() {
			Waymark.capture();
		}
	}

	static final class Derived extends Base {
		private final String text;

		Derived(int n) {
			int m;

			Waymark.capture();
			text = n % 2 == 0 ? new String("even") : new StringBuilder("odd").append(checked(n)).toString();
			try {
				m = checked(n - 1);
			} catch (IllegalArgumentException e) {
				Waymark.capture();
				m = new Derived(5).n;
			}
			for (int i = 0; i < 3; i++)
				checked(i);
			super(m);
			Waymark.capture();
		}

		@Override
		void seen() {
			super.seen();
			if (text == null)
				throw new IllegalStateException("not set before super()");
		}
	}

	static final class Thrown extends Base {
		Thrown(int n) {
			if (n > 2)
				throw new IllegalStateException("before super");
			checked(n);
			super(n);
		}
	}

	public static void main(String[] args) {
		int thrown = 0;

		for (int i = 0; i < 6; i++) {
			new Derived(i);
			try {
				new Thrown(i - 1);
			} catch (IllegalArgumentException | IllegalStateException e) {
				Waymark.capture();
				thrown++;
			}
			Waymark.capture();
		}
		System.out.println("thrown " + thrown);
	}
}
