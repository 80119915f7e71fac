package dev.waymark.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compares the context of a capture with a walk of the stack: class, method, descriptor and line of each instrumented method, from the
 * capture to the thread's first call. Frames of methods that are not instrumented are in no context, so the walk leaves them out.
 */
public final class Oracle {
	/** Where a context is compared. An event may have come behind the last site: the innermost line is not compared then. */
	private enum Point {
		SITE, EVENT, CONTENTION, SAMPLE
	}

	/** class.methodDESCRIPTOR of each instrumented method; methods of two loaders that have one name are taken for one. */
	private static final Set<String> METHODS = ConcurrentHashMap.newKeySet();
	/** The synchronized methods: the frame is there before the monitor is entered, when the context has only the caller. */
	private static final Set<String> SYNCHRONIZED = ConcurrentHashMap.newKeySet();
	/** What the recorder says of a site, which is the same each time. */
	private static final ConcurrentHashMap<Integer, String> SITES = new ConcurrentHashMap<>();
	private static volatile boolean isOn;
	private static int every;
	private static int left;

	private Oracle() {
	}

	static boolean isOn() {
		return isOn;
	}

	static void start(int entries) {
		every = left = entries;
		isOn = true;
	}

	static boolean seesEntries() {
		return every > 0;
	}

	/** Called at the entry of each instrumented method, whose frame has no site yet. Counts of several threads may get lost. */
	public static void entry() {
		if (--left > 0)
			return;
		left = every;
		check(ThreadState.currentThread(), 1);
	}

	/** owner: with dots. The class will be loaded with the changes. Called by the agent. */
	static void add(String owner, String name, String descriptor, boolean isSynchronized) {
		METHODS.add(owner + '.' + name + descriptor);
		if (isSynchronized)
			SYNCHRONIZED.add(owner + '.' + name + descriptor);
	}

	/** skipped: innermost frames of instrumented methods that are in no context. */
	static void check(ThreadState thread, int skipped) {
		check(thread, skipped, Point.SITE);
	}

	private static void check(ThreadState thread, int skipped, Point point) {
		ThreadContexts contexts = ThreadContexts.of(thread);

		if (contexts.isAgentAtWork)
			return;
		Clients.pause();
		contexts.isAgentAtWork = true;
		try {
			compare(contexts.sites(thread), skipped, point);
		} finally {
			contexts.isAgentAtWork = false;
			Clients.resume();
		}
	}

	/** Compares at an event of the virtual machine, while the agent is paused. */
	static void checkEvent() {
		check(ThreadState.currentThread(), 0, Point.EVENT);
	}

	/** Compares where a monitor is entered, while the agent is paused. */
	static void checkContention() {
		check(ThreadState.currentThread(), 0, Point.CONTENTION);
	}

	/** Compares the context of another thread, which was suspended. frames: all, innermost first. Called by the agent. */
	static void checkSample(Frame[] frames, int[] sites) {
		Recorder.compared(difference(places(frames, 0), sites, Point.SAMPLE));
	}

	/** Where the frames of instrumented methods are, without the innermost ones that are skipped. A loop: a stack may have thousands. */
	private static List<String> places(Frame[] frames, int skipped) {
		List<String> ret = new ArrayList<>(frames.length);
		int left = skipped;

		for (Frame frame : frames)
			if (METHODS.contains(frame.method) && --left < 0)
				ret.add(frame.toString());
		return ret;
	}

	private static void compare(int[] sites, int skipped, Point point) {
		if (sites == null) {
			Recorder.lost();
			return;
		}
		Recorder.compared(difference(places(Frames.stack(), skipped), sites, point));
	}

	/* ---- ---- */

	private static String withoutLine(String place) {
		return place.substring(0, place.lastIndexOf(':'));
	}

	/**
	 * Is the innermost frame that of a method which has not begun, or is left by an exception? Its code has no line before its first site and
	 * in its catch-all. A sample may also be of one that has restored the context and is about to return.
	 */
	private static boolean isEntered(String innermost, Point point) {
		return point == Point.SAMPLE || (point != Point.SITE && innermost.endsWith(":0"))
				|| (point == Point.CONTENTION && SYNCHRONIZED.contains(withoutLine(innermost)));
	}

	private static boolean isConstructor(String place) {
		return place.contains(".<init>(");
	}

	/**
	 * Removes the innermost frame. Where it is a constructor in its catch-all, it has undone the calls of super(...) that led to it as well
	 * (SuperCalls): the constructors that made them are still on the stack, and the exception leaves them without a word.
	 */
	private static void removeLeft(List<String> walked, int depth) {
		boolean isUndoing = isConstructor(walked.get(0)) && walked.get(0).endsWith(":0");

		walked.remove(0);
		while (isUndoing && walked.size() > depth && isConstructor(walked.get(0)))
			walked.remove(0);
	}

	private static boolean isEqual(String kept, String walked, boolean hasLine) {
		return hasLine ? kept.equals(walked) : withoutLine(kept).equals(withoutLine(walked));
	}

	/** null: none. The innermost frame is the first of the walk and the last of the context. */
	private static String difference(List<String> walked, int[] sites, Point point) {
		int depth = sites.length;

		if (walked.size() > depth && isEntered(walked.get(0), point))
			removeLeft(walked, depth);
		int common = Math.min(walked.size(), depth);

		for (int i = 0; i < common; i++) {
			String kept = SITES.computeIfAbsent(sites[depth - 1 - i], Recorder::describe);

			if (!isEqual(kept, walked.get(i), i > 0 || point == Point.SITE))
				return "frame " + i + ": " + kept + ", the stack has " + walked.get(i);
		}
		return walked.size() == depth ? null : depth + " frames, the stack has " + walked.size();
	}
}
