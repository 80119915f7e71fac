package dev.waymark.agent;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Walks of the running thread's stack. StackWalker has no line of a frame whose method was replaced since. The virtual machine's interface
 * for tools has: it is asked for the whole stack at once, since a frame alone costs a walk to it. It has frames that are hidden from
 * StackWalker, too.
 */
final class Frames {
	private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

	private Frames() {
	}

	/** Asked for a descriptor, newer StackWalkers load its classes, in the midst of what the program does. */
	private static boolean isWalkerPassive() {
		return Runtime.version().feature() <= 21;
	}

	/** The frames that are selected of all, the innermost first. */
	static List<Frame> walk(UnaryOperator<Stream<Frame>> selection) {
		if (!isWalkerPassive())
			return walkAll(selection);
		List<Frame> selected = WALKER.walk(frames -> selection.apply(frames.map(frame -> new Frame(frame, frame.getLineNumber())))
				.collect(Collectors.toList()));

		for (Frame frame : selected)
			if (frame.line < 0)
				return walkAll(selection);
		return selected;
	}

	/** The same, but asked for all of them at once. */
	private static List<Frame> walkAll(UnaryOperator<Stream<Frame>> selection) {
		return selection.apply(Stream.of(stack())).collect(Collectors.toList());
	}

	/** All frames, the innermost first: for who looks at most. c/contexts/frames.c. */
	static native Frame[] stack();
}
