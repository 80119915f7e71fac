package dev.waymark.agent;

/**
 * What the agent adds to java.lang.Thread, for the compiler: the jar has java/lang/Thread wherever this class is named
 * (build/Relocate.java), and not this class. It also adds `static long waymark$push(long)`, which is that of ContextStack.
 */
class ThreadState {
	/** The context of the call that was made last, or restored last. 0: there was none yet. */
	public long waymark$word;
	/** null: nothing was pushed yet. */
	public ContextStack waymark$stack;

	static native ThreadState currentThread();
}
