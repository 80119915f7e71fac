package dev.waymark.agent;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calls of the constructor of a superclass. No handler may cover them, so nothing restores the context in the method that makes the call
 * when an exception leaves it. It would be wrong when foreign code has called that method, catches, and goes on to call the application:
 * the next method would seem to be called by a constructor that is not there any more.
 *
 * <p>So the constructor that is called undoes these calls, too, when an exception leaves it. If it is the JDK's, or has no site, it is not
 * instrumented: then its space has the codes of these calls alone, and whoever is entered by one asks the stack whether it is true.
 *
 * <p>Any thread.
 */
final class SuperCalls {
	/** By site: its space; 0: it is no such call. Read by code that was loaded after it was written. */
	private static char[] spaces = new char[1 << 16];
	/** Spaces of constructors that undo them. */
	private static final boolean[] UNDOING = new boolean[1 << 64 - Word.PAYLOAD_BITS];
	/** Spaces with codes of them, but for the former. */
	private static final boolean[] DOUBTFUL = new boolean[1 << 64 - Word.PAYLOAD_BITS];
	/** Methods of instrumented classes that are not. */
	private static final Set<String> LEFT_OUT = ConcurrentHashMap.newKeySet();

	private SuperCalls() {
	}

	/** The space of a call that is one of them. */
	static int space(String owner, String descriptor) {
		int space = Spaces.ofOwned(owner, "<init>", descriptor);

		for (int i = 0; !Recorder.hasRoom(space); i++)
			space = Spaces.ofOwned(owner + ' ' + i, "<init>", descriptor);
		return space;
	}

	static synchronized void add(int site) {
		int space = Word.space(Recorder.siteWord(site));

		if (site >= spaces.length)
			spaces = Arrays.copyOf(spaces, 2 * site);
		spaces[site] = (char) space;
		DOUBTFUL[space] = !UNDOING[space];
	}

	/** The constructor whose calls have the space is instrumented. */
	static synchronized void addUndoing(int space) {
		UNDOING[space] = true;
		DOUBTFUL[space] = false;
	}

	static void addLeftOut(String owner, String name, String descriptor) {
		LEFT_OUT.add(owner + '.' + name + descriptor);
	}

	static boolean isDoubtful(long word) {
		return DOUBTFUL[Word.space(word)];
	}

	static boolean isDoubtful(int site) {
		return has(site) && DOUBTFUL[spaces[site]];
	}

	static boolean has(int site) {
		char[] spaces = SuperCalls.spaces;

		return site >= 0 && site < spaces.length && spaces[site] != 0;
	}

	/**
	 * Is the site's call, which seems to be the last one, still in progress? isEntry: another method has been entered, and does nothing else
	 * yet. Otherwise none has been, and the call's own method may also be behind it.
	 */
	static boolean isActive(int site, boolean isEntry) {
		ThreadContexts contexts = ThreadContexts.of(ThreadState.currentThread());

		if (contexts.isAgentAtWork)
			return true;
		contexts.isAgentAtWork = true;
		try {
			return isOnStack(site, isEntry);
		} finally {
			contexts.isAgentAtWork = false;
		}
	}

	private static boolean isOnStack(int site, boolean isEntry) {
		String place = Recorder.describe(site);
		String innermost = innermost(isEntry ? 1 : 0);

		if (isEntry || innermost == null)
			return place.equals(innermost);
		return innermost.startsWith(place.substring(0, place.lastIndexOf(':') + 1));
	}

	/** Where the innermost instrumented method is, below so many others of any kind; null: there is none. */
	private static String innermost(int skipped) {
		return Frames.walk(frames -> frames.dropWhile(SuperCalls::isOurs).skip(skipped).filter(SuperCalls::isInstrumented).limit(1))
				.stream().findFirst().orElse(null);
	}

	private static boolean isOurs(StackWalker.StackFrame frame) {
		return frame.getClassName().startsWith("dev.waymark.agent.") || frame.getMethodName().equals(Encoder.ENTER);
	}

	private static boolean isInstrumented(StackWalker.StackFrame frame) {
		return Filter.isWanted(frame.getDeclaringClass().getClassLoader(), frame.getClassName().replace('.', '/'))
				&& !LEFT_OUT.contains(Frames.method(frame));
	}
}
