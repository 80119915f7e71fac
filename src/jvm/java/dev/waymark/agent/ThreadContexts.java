package dev.waymark.agent;

/** The state of a thread that an encoder keeps outside of the methods' own locals. Used by the thread itself only. */
public abstract class ThreadContexts {
	final ThreadRoot root;
	/** The agent walks the stack or rewrites a class, and what it calls may be instrumented. */
	boolean isAgentAtWork;
	/** That have begun and not ended; the recorder has them for the operating system's thread (recorder/task.h). */
	int tasks;

	ThreadContexts(ThreadRoot root) {
		this.root = root;
	}

	static ThreadContexts of(ThreadState thread) {
		ThreadContexts contexts = thread.waymark$contexts;

		return contexts != null ? contexts : add(thread, ThreadRoot.UNKNOWN);
	}

	static ThreadContexts add(ThreadState thread, ThreadRoot root) {
		Clients.pause();
		try {
			ThreadContexts contexts = Encoder.isLucce() ? new LucceContexts(root) : new ContextStack(thread, root);

			thread.waymark$contexts = contexts;
			return contexts;
		} finally {
			Clients.resume();
		}
	}

	/** No method has been entered since the context was stored: is it left of a call that is not in progress any more? Then it is undone. */
	abstract void settle(ThreadState thread);

	/** Thread.start0 begins, or VirtualThread.start, in the thread that calls it: its context is what the new thread's contexts stand on. */
	public static void starts(ThreadState thread) {
		ThreadState starter = ThreadState.currentThread();
		ThreadContexts contexts = starter.waymark$contexts;

		if (contexts == null || thread.waymark$contexts != null)
			return;
		Clients.pause();
		try {
			ThreadRoot root = contexts.rootOfStarted(starter);

			if (root != null)
				add(thread, root);
		} finally {
			Clients.resume();
		}
	}

	/** The root of a thread that is started now; null: it is not known. */
	private ThreadRoot rootOfStarted(ThreadState thread) {
		int[] sites = sitesAboveNative(thread);
		int prefix = nativePrefix(thread);
		ThreadRoot below = prefix == 0 ? root : ThreadRoot.of(prefix);

		return sites == null || (sites.length == 0 && below == ThreadRoot.PROCESS) ? null : new ThreadRoot(below, sites);
	}

	/** A native method is called: the prefix of the call, and in the low half what leaveNative needs, which is not negative. */
	abstract long enterNative(ThreadState thread);

	/** The native method is over. */
	abstract void leaveNative(ThreadState thread, int depth);

	/** The prefix of the innermost native code that the context stands on; 0: there is none. */
	abstract int nativePrefix(ThreadState thread);

	/** The sites above it, the outermost first; null: they are lost. */
	abstract int[] sitesAboveNative(ThreadState thread);

	/** Prefix and site in the recorder of the context that was stored last. */
	abstract long context(ThreadState thread);

	/**
	 * The sites of the context, the outermost first; null: it is lost. Thread.start calls it, also where the JDK makes what lambdas need:
	 * so it must do without them.
	 */
	abstract int[] sites(ThreadState thread);
}
