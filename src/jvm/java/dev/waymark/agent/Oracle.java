package dev.waymark.agent;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Compares the context of a capture with a walk of the stack: class, method, descriptor and line of each instrumented method, from the
 * capture to the thread's first call. Frames of methods that are not instrumented are in no context, so the walk leaves them out.
 */
final class Oracle {
	private static final StackWalker WALKER = StackWalker.getInstance();
	/** class.methodDESCRIPTOR of each instrumented method; methods of two loaders that have one name are taken for one. */
	private static final Set<String> METHODS = ConcurrentHashMap.newKeySet();
	private static volatile boolean isOn;

	private Oracle() {
	}

	static boolean isOn() {
		return isOn;
	}

	static void start() {
		isOn = true;
	}

	static void add(String owner, String name, String descriptor) {
		if (isOn)
			METHODS.add(owner + '.' + name + descriptor);
	}

	private static String method(StackWalker.StackFrame frame) {
		return frame.getClassName() + '.' + frame.getMethodName() + frame.getDescriptor();
	}

	static void check(int[] sites, int depth) {
		List<String> walked = WALKER.walk(frames -> frames.filter(frame -> METHODS.contains(method(frame)))
				.map(frame -> method(frame) + ':' + Math.max(frame.getLineNumber(), 0)).collect(Collectors.toList()));

		Recorder.compared(difference(walked, sites, depth));
	}

	/** null: none. The innermost frame is the first of the walk and the last of the context. */
	private static String difference(List<String> walked, int[] sites, int depth) {
		int common = Math.min(walked.size(), depth);

		for (int i = 0; i < common; i++) {
			String kept = Recorder.describe(sites[depth - 1 - i]);

			if (!kept.equals(walked.get(i)))
				return "frame " + i + ": " + kept + ", the stack has " + walked.get(i);
		}
		return walked.size() == depth ? null : depth + " frames, the stack has " + walked.size();
	}
}
