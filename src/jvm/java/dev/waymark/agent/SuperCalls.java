package dev.waymark.agent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calls of the constructor of a superclass. No handler may cover them, so nothing restores the context in the method that makes the call
 * when an exception leaves it. It would be wrong when foreign code has called that method, catches, and goes on to call the application:
 * the next method would seem to be called by a constructor that is not there any more.
 *
 * <p>So the constructor that is called undoes these calls, too, when an exception leaves it. If it is the JDK's, or has no site, it is not
 * instrumented: then whoever is entered by a word with such a call, in a space that is not its own, asks the stack whether it is true.
 *
 * <p>Any thread.
 */
final class SuperCalls {
	/**
	 * By space: has a constructor calls there that nobody undoes? Functions share spaces, so other calls may have such a space, too. Written by
	 * c/codes/super_calls.c.
	 */
	private static final boolean[] DOUBTFUL = new boolean[Word.SPACES];
	/** DOUBTFUL, and the space 0 of words without a call: such words are not just pushed. */
	static final boolean[] SPECIAL = new boolean[Word.SPACES];
	/** Methods of instrumented classes that are not. */
	private static final Set<String> LEFT_OUT = ConcurrentHashMap.newKeySet();

	static {
		SPECIAL[0] = true;
	}

	private SuperCalls() {
	}

	/** The name of a constructor, by its class. */
	static String name(String owner, String descriptor) {
		return owner + descriptor;
	}

	/** method: class.methodDESCRIPTOR, with dots in the class. False: it was known. */
	static boolean addLeftOut(String method) {
		return LEFT_OUT.add(method);
	}

	/** May the word's last call be doubtful? */
	static boolean isDoubtful(long word) {
		return DOUBTFUL[Word.space(word)];
	}

	/** Is the site such a call, which nobody undoes? */
	static native boolean isDoubtful(int site);

	/** Is it such a call? */
	static native boolean has(int site);

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
				.stream().map(Frame::toString).findFirst().orElse(null);
	}

	private static boolean isOurs(Frame frame) {
		return frame.method.startsWith("dev.waymark.agent.") || frame.method.startsWith("java.lang.Thread." + Encoder.ENTER);
	}

	private static boolean isInstrumented(Frame frame) {
		return Filter.isWanted(frame.owner.getClassLoader(), frame.owner.getName().replace('.', '/')) && !LEFT_OUT.contains(frame.method);
	}
}
