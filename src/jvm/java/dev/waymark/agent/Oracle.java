package dev.waymark.agent;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Compares the context of a capture with a walk of the stack: class, method, descriptor and line of each instrumented method, from the
 * capture to the thread's first call. Frames of methods that are not instrumented are in no context, so the walk leaves them out.
 */
public final class Oracle {
	private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
	/** class.methodDESCRIPTOR of each instrumented method; methods of two loaders that have one name are taken for one. */
	private static final Set<String> METHODS = ConcurrentHashMap.newKeySet();
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

	static void add(String owner, String name, String descriptor) {
		if (isOn)
			METHODS.add(owner + '.' + name + descriptor);
	}

	static String method(StackWalker.StackFrame frame) {
		return frame.getClassName() + '.' + frame.getMethodName() + frame.getDescriptor();
	}

	/** skipped: innermost frames of instrumented methods that are in no context. */
	static void check(ThreadState thread, int skipped) {
		ThreadContexts contexts = ThreadContexts.of(thread);

		if (contexts.isAgentAtWork)
			return;
		contexts.isAgentAtWork = true;
		try {
			compare(contexts.sites(thread), skipped);
		} finally {
			contexts.isAgentAtWork = false;
		}
	}

	private static void compare(int[] sites, int skipped) {
		if (sites == null) {
			Recorder.lost();
			return;
		}
		List<String> walked = WALKER.walk(frames -> frames.filter(frame -> METHODS.contains(method(frame))).skip(skipped)
				.map(frame -> method(frame) + ':' + Math.max(frame.getLineNumber(), 0)).collect(Collectors.toList()));

		Recorder.compared(difference(walked, sites));
	}

	/** null: none. The innermost frame is the first of the walk and the last of the context. */
	private static String difference(List<String> walked, int[] sites) {
		int depth = sites.length;
		int common = Math.min(walked.size(), depth);

		for (int i = 0; i < common; i++) {
			String kept = Recorder.describe(sites[depth - 1 - i]);

			if (!kept.equals(walked.get(i)))
				return "frame " + i + ": " + kept + ", the stack has " + walked.get(i);
		}
		return walked.size() == depth ? null : depth + " frames, the stack has " + walked.size();
	}
}
