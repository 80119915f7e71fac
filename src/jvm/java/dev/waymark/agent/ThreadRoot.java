package dev.waymark.agent;

/** The root that the contexts of a thread stand on: the calls that have started it, in the thread that did. Any thread. */
final class ThreadRoot {
	/** WM_PREFIX_LOST */
	static final int LOST_PREFIX = 4;
	/** enum wm_prefix */
	static final ThreadRoot PROCESS = new ThreadRoot(1);
	static final ThreadRoot UNKNOWN = new ThreadRoot(2);

	private final ThreadRoot starter;
	private final int[] sites;
	private int prefix;

	private ThreadRoot(int prefix) {
		this.starter = null;
		this.sites = null;
		this.prefix = prefix;
	}

	/** sites: of the call of Thread.start, the outermost first. */
	ThreadRoot(ThreadRoot starter, int[] sites) {
		this.starter = starter;
		this.sites = sites;
	}

	/** The root of calls that stand on the prefix. */
	static ThreadRoot of(int prefix) {
		return new ThreadRoot(prefix);
	}

	/** The number of the root in the recorder. Nothing is recorded of a thread that captures nothing. */
	synchronized int prefix() {
		if (prefix == 0)
			prefix = Recorder.threadRoot(starter.prefix(), sites);
		return prefix;
	}
}
