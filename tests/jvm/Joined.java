import dev.waymark.Waymark;

/**
 * Java and native code (joined.c) call each other at random. Each method is handed the path that it was called by, "A;B;C", and adds
 * itself; a point prints the token of its context and that path.
 *
 * Arguments: the library, the first seed and the last one.
 */
public final class Joined {
	private static final int LEAVES = 40;

	private static final class Thrown extends RuntimeException {
		private static final long serialVersionUID = 1;
	}

	interface Step {
		void go(long seed, int depth, String path);
	}

	/** How many calls are left of a seed, in all threads that it has. */
	private static int left;

	private Joined() {
	}

	static native void down(long seed, int depth, String path);

	native int downHere(long seed, int depth, String path);

	/** Arguments in all registers and on the stack; the result is 1 if each has come. */
	static native double downWide(int a, double b, long c, float d, byte e, double f, String path, double g, short h, double i,
			boolean j, double k, char l, double m, Object[] n, double o, double p, float q, long seed, int depth);

	/** Native code creates a thread, which attaches, calls Java, and is waited for. */
	static native void downThread(long seed, int depth, String path);

	/** Of a library that was not built with Waymark. */
	static native void plainDown(long seed, int depth, String path);

	static long next(long seed) {
		return seed * 6364136223846793005L + 1442695040888963407L;
	}

	static void point(String path) {
		String token = Waymark.token();

		System.out.println("point " + token + " " + path + ";Joined.point");
	}

	static void up(long seed, int depth, String path) {
		step(seed, depth, path + ";Joined.up");
	}

	void upHere(long seed, int depth, String path) {
		step(seed, depth, path + ";Joined.upHere");
	}

	static void upThrows(long seed, int depth, String path) {
		step(seed, depth, path + ";Joined.upThrows");
		throw new Thrown();
	}

	/** The name and the type of a native method. */
	static final class Same {
		static void down(long seed, int depth, String path) {
			step(seed, depth, path + ";Joined$Same.down");
		}
	}

	static final class Plain implements Step {
		@Override
		public void go(long seed, int depth, String path) {
			step(seed, depth, path + ";Joined$Plain.go");
		}
	}

	/** Instances are made by native code. */
	static final class Made {
		Made(long seed, int depth, String path) {
			step(seed, depth, path + ";Joined$Made.<init>");
		}
	}

	static synchronized boolean isOver(int depth) {
		return depth <= 0 || left-- <= 0;
	}

	private static void thread(long seed, int depth, String path) {
		String below = path + ";Joined.thread;[thread]";
		Thread thread = new Thread() {
			@Override
			public void run() {
				step(seed, depth, below + ";Joined$1.run");
			}
		};

		thread.start();
		try {
			thread.join();
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
	}

	private static void wide(long seed, int depth, String path) {
		path += ";Joined.wide";
		if (downWide(-1, 2.5, 3L << 40, 4.5f, (byte) -5, 6.5, path, 7.5, (short) -8, 9.5, true, 10.5, '\u1234', 11.5,
				new Object[] {path}, 12.5, 13.5, 14.5f, seed, depth) != 1)
			throw new AssertionError("arguments");
	}

	private static void catching(long seed, int depth, String path) {
		path += ";Joined.catching";
		try {
			down(seed, depth, path);
		} finally {
			point(path);
		}
	}

	static void step(long seed, int depth, String path) {
		path += ";Joined.step";
		while (!isOver(depth)) {
			seed = next(seed);
			int choice = (int) (seed >>> 33) % 11;

			if (choice == 0)
				return;
			try {
				go(choice, seed ^ depth, depth - 1, path);
			} catch (Thrown e) {
				point(path);
			}
		}
	}

	private static void go(int choice, long seed, int depth, String path) {
		path += ";Joined.go";
		switch (choice) {
		case 1:
			point(path);
			break;
		case 2:
			down(seed, depth, path);
			break;
		case 3:
			if (new Joined().downHere(seed, depth, path) != 7)
				throw new AssertionError("result");
			break;
		case 4:
			wide(seed, depth, path);
			break;
		case 5:
			thread(seed, depth, path);
			break;
		case 6:
			downThread(seed, depth, path);
			break;
		case 7:
			plainDown(seed, depth, path);
			break;
		case 8:
			catching(seed, depth, path);
			break;
		case 9:
			new Plain().go(seed, depth, path);
			break;
		default:
			step(seed, depth, path);
		}
	}

	public static void main(String[] args) {
		System.load(args[0]);
		System.load(args[1]);
		for (long seed = Long.parseLong(args[2]); seed <= Long.parseLong(args[3]); seed++) {
			left = LEAVES;
			step(seed, 14, "Joined.main");
		}
	}
}
