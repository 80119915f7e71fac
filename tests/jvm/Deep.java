import dev.waymark.Waymark;

/** A recursion through the JDK, deeper than a context stack can be. */
public final class Deep implements Runnable {
	private static final int LEVELS = 70000;

	private int left = LEVELS;

	@Override
	public void run() {
		if (left-- > 0)
			go(this);
		else
			Waymark.event("deepest", 1);
		if (++left == LEVELS)
			Waymark.event("returned", 1);
	}

	/* An interface of the JDK: each call of run pushes. */
	static void go(Runnable deep) {
		deep.run();
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread thread = new Thread(null, new Deep(), "deep", 1L << 30);

		thread.start();
		thread.join();
	}
}
