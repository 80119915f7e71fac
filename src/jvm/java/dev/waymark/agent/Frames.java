package dev.waymark.agent;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Walks of the running thread's stack. StackWalker has no line of a frame whose method was replaced since; the virtual machine's interface
 * for tools has. It has all frames, also those that are hidden from StackWalker: the two are the same from the thread's first call on.
 */
final class Frames {
	private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
	private static final StackWalker OF_ALL = StackWalker.getInstance(
			Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE, StackWalker.Option.SHOW_HIDDEN_FRAMES));

	private Frames() {
	}

	/** class.methodDESCRIPTOR:line of the frames that are selected of all, the innermost first; the line is 0 if not known. */
	static List<String> walk(UnaryOperator<Stream<StackWalker.StackFrame>> selection) {
		List<StackWalker.StackFrame> selected = WALKER.walk(frames -> selection.apply(frames).collect(Collectors.toList()));

		for (StackWalker.StackFrame frame : selected)
			if (frame.getLineNumber() < 0)
				return walkReplaced(selection);
		return selected.stream().map(frame -> method(frame) + ':' + frame.getLineNumber()).collect(Collectors.toList());
	}

	private static List<String> walkReplaced(UnaryOperator<Stream<StackWalker.StackFrame>> selection) {
		List<StackWalker.StackFrame> all = OF_ALL.walk(frames -> frames.collect(Collectors.toList()));
		Map<StackWalker.StackFrame, Integer> places = new IdentityHashMap<>();

		for (int i = 0; i < all.size(); i++)
			places.put(all.get(i), all.size() - i);
		return selection.apply(all.stream())
				.map(frame -> method(frame) + ':' + (frame.getLineNumber() < 0 ? line(places.get(frame)) : frame.getLineNumber()))
				.collect(Collectors.toList());
	}

	static String method(StackWalker.StackFrame frame) {
		return frame.getClassName() + '.' + frame.getMethodName() + frame.getDescriptor();
	}

	/** Of a frame; place: 1 for the thread's first call. 0: not known. c/frames.c. */
	private static native int line(int place);
}
