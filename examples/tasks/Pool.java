import dev.waymark.Waymark;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * An ExecutorService whose contexts continue those of who enqueued the work (docs/tasks.md).
 *
 * <pre>
 *   javac -cp LIB/waymark-jvm.jar Pool.java; waymark run java -cp . Pool
 *   waymark report --format=folded --metric parsed
 * </pre>
 */
public final class Pool {
	private static final ExecutorService EXECUTOR = Executors.newFixedThreadPool(3);

	private Pool() {
	}

	private static void parse() {
		Waymark.event("parsed", 1);
	}

	private static void submit(Runnable work) {
		EXECUTOR.execute(Waymark.task(work));
	}

	private static void serve(int requests) {
		for (int i = 0; i < requests; i++)
			submit(Pool::parse);
	}

	private static void refresh(int times) {
		for (int i = 0; i < times; i++)
			submit(Pool::parse);
	}

	public static void main(String[] arguments) throws InterruptedException {
		serve(20);
		refresh(5);
		EXECUTOR.shutdown();
		EXECUTOR.awaitTermination(1, TimeUnit.MINUTES);
	}
}
