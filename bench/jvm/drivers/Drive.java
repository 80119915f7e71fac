import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Drive WORK INPUTS SCRATCH ITERATIONS [TIMES] - does the work several times. Writes to the file TIMES a line for each iteration:
 * milliseconds of CPU time of the process, of CPU time of the main thread, and of time; and at the end "VmHWM" with the kilobytes of
 * memory that the process had at most.
 */
public final class Drive {
	private Drive() {
	}

	private static long[] clocks() {
		OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

		return new long[] {system.getProcessCpuTime(), ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(), System.nanoTime()};
	}

	private static String row(long[] before, long[] after) {
		StringBuilder ret = new StringBuilder();

		for (int i = 0; i < before.length; i++)
			ret.append(i > 0 ? " " : "").append((after[i] - before[i]) / 1000 / 1000.0);
		return ret.append('\n').toString();
	}

	private static String peak() throws IOException {
		for (String line : Files.readAllLines(Path.of("/proc/self/status")))
			if (line.startsWith("VmHWM:"))
				return "VmHWM " + line.replaceAll("[^0-9]", "") + "\n";
		return "";
	}

	public static void main(String[] args) throws Exception {
		Work work = (Work) Class.forName(args[0]).getDeclaredConstructor().newInstance();
		Path inputs = Path.of(args[1]), scratch = Path.of(args[2]);
		int iterations = Integer.parseInt(args[3]);
		StringBuilder times = new StringBuilder();
		PrintStream out = System.out;

		for (int i = 0; i < iterations; i++) {
			Inputs.empty(scratch);
			long[] before = clocks();
			work.run(inputs, scratch, out);
			times.append(row(before, clocks()));
		}
		if (args.length > 4)
			Files.writeString(Path.of(args[4]), times + peak());
		out.flush();
	}
}
