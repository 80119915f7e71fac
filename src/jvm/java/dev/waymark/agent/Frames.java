package dev.waymark.agent;

import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

	/** Asked for a descriptor, newer StackWalkers load its classes, in the midst of what the program does. */
	private static boolean isWalkerPassive() {
		return Runtime.version().feature() <= 21;
	}

	/** Those that are selected of all, the innermost first. */
	static List<Frame> walk(UnaryOperator<Stream<Frame>> selection) {
		if (!isWalkerPassive())
			return selection.apply(Stream.of(stack())).collect(Collectors.toList());
		List<Frame> selected = WALKER.walk(frames -> selection.apply(frames.map(frame -> new Frame(frame, frame.getLineNumber())))
				.collect(Collectors.toList()));

		for (Frame frame : selected)
			if (frame.line < 0)
				return walkReplaced(selection);
		return selected;
	}

	private static List<Frame> walkReplaced(UnaryOperator<Stream<Frame>> selection) {
		List<StackWalker.StackFrame> all = OF_ALL.walk(frames -> frames.collect(Collectors.toList()));

		return selection.apply(IntStream.range(0, all.size()).mapToObj(i -> {
			int line = all.get(i).getLineNumber();

			return new Frame(all.get(i), line < 0 ? line(all.size() - i) : line);
		})).collect(Collectors.toList());
	}

	/** Of a frame; place: 1 for the thread's first call. 0: not known. c/frames.c. */
	private static native int line(int place);

	/** All frames, the innermost first. c/frames.c. */
	private static native Frame[] stack();
}
