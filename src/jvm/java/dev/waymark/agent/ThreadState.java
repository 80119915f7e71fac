package dev.waymark.agent;

import java.util.function.LongUnaryOperator;

/**
 * What the agent adds to java.lang.Thread, for the compiler: the jar has java/lang/Thread wherever this class is named
 * (build/Relocate.java), and not this class.
 */
class ThreadState {
	/** ContextStack.push for the running thread, by a name that every class can use. Set before a class is rewritten. */
	public static LongUnaryOperator waymark$push;

	/** The context of the call that was made last, or restored last. 0: there was none yet. */
	public long waymark$word;
	/** null: nothing was pushed yet. */
	public ContextStack waymark$stack;

	static native ThreadState currentThread();
}
