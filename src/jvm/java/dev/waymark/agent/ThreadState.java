package dev.waymark.agent;

/**
 * What the agent adds to java.lang.Thread, for the compiler: the jar has java/lang/Thread wherever this class is named
 * (build/Relocate.java), and not this class.
 */
class ThreadState {
	/** The context stack: sites of the calls in progress, the outermost first. null: there was none yet. */
	public int[] waymark$sites;
	/** How many of them there are. */
	public int waymark$depth;

	static native ThreadState currentThread();
}
