import dev.waymark.Waymark;
import java.util.Objects;
import java.util.function.Supplier;

/** A recursion through the JDK, deeper than a context stack can be: each call that comes from there pushes. */
public final class Deep implements Supplier<Object>, Runnable {
	private static final int LEVELS = 70000;

	private int left = LEVELS;

	@Override
	public Object get() {
		if (left-- > 0)
			Objects.requireNonNullElseGet(null, this);
		else
			Waymark.event("deepest", 1);
		return this;
	}

	@Override
	public void run() {
		get();
		Waymark.event("returned", 1);
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread thread = new Thread(null, new Deep(), "deep", 1L << 30);

		thread.start();
		thread.join();
	}
}
