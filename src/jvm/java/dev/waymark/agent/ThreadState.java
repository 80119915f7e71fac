package dev.waymark.agent;

/**
 * The members that the agent adds to java.lang.Thread, for the compiler: the jar has java/lang/Thread wherever this class is named
 * (build/Relocate.java), and not this class. It also adds `static long waymark$enter(long)`, which is that of the encoder's class, and
 * `waymark$push`, which is ContextStack's.
 */
class ThreadState {
	/** The context of the call that was made last, or restored last: a word, or the number of Lucce. 0: there was none yet. */
	public long waymark$word;
	/** Words that are pushed (ContextStack); null as `contexts` is. */
	public long[] waymark$words;
	/** How many of the pushed words the recorder knows. */
	public int waymark$known;
	/** null: nothing is known of the thread yet. */
	public ThreadContexts waymark$contexts;
	/** encoder=lucce: the version, and the number of the site plus 1. 0: no call yet. */
	public long waymark$version;
	public int waymark$site;
	/** The version of a method that begins, for its code. */
	public long waymark$entered;

	/** The exception that a method throws on, for the client `exceptions`, which does not count it again. The agent takes it out. */
	public Throwable waymark$thrown;

	static native ThreadState currentThread();
}
