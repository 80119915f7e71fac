package dev.waymark.agent;

/** What an encoder keeps of a thread outside of the methods' own locals. The running thread's only. */
abstract class ThreadContexts {
	/** enum wm_prefix: what a thread's contexts stand on. */
	static final int PROCESS = 1;
	static final int THREAD = 2;

	final int root;

	ThreadContexts(int root) {
		this.root = root;
	}

	static ThreadContexts of(ThreadState thread) {
		ThreadContexts contexts = thread.waymark$contexts;

		return contexts != null ? contexts : add(thread, THREAD);
	}

	static ThreadContexts add(ThreadState thread, int root) {
		ThreadContexts contexts = Encoder.isLucce() ? new LucceContexts(root) : new ContextStack(root);

		thread.waymark$contexts = contexts;
		return contexts;
	}

	/** Prefix and site in the recorder of the context that was stored last. */
	abstract long context(ThreadState thread);

	/** Its sites, the outermost first; null: it is lost. */
	abstract int[] sites(ThreadState thread);
}
