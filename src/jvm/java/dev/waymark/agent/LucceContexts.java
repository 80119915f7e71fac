package dev.waymark.agent;

import java.util.Arrays;

/**
 * A thread's part of the paper's encoder (core/contexts/lucce.h): what it has learned of edges, each in a version of its caller, so that a
 * method that is entered in the same way again takes no lock.
 */
public final class LucceContexts extends ThreadContexts {
	private static final int FIRST_STEPS = 1 << 10;
	private static final int MOST_STEPS = 1 << 18;

	/** struct lucce_step, and the edge that it is of: a site, as Thread has it, and the number of a method. */
	private static final class Step {
		final int site;
		final int method;
		final long fromVersion;
		final long fromNumber;
		final long addend;
		final long version;
		final boolean isBoundary;

		Step(int site, int method, long[] members) {
			this.site = site;
			this.method = method;
			fromVersion = members[0];
			fromNumber = members[1];
			addend = members[2];
			version = members[3];
			isBoundary = members[4] != 0;
		}

		boolean fits(int site, int method, long number, long version) {
			return this.site == site && this.method == method && fromVersion == version && this.version != LOST
					&& (!isBoundary || fromNumber == number);
		}

		long to(long number) {
			return isBoundary || version == LOST ? 0 : number + addend;
		}
	}

	/** LUCCE_LOST */
	private static final long LOST = -1;

	/** By a hash of the edge and the version; a place has what came last. */
	private Step[] steps = new Step[FIRST_STEPS];
	private int misses;
	private final long[] members = new long[5];
	/** By number, and version and site. */
	private final ContextCache cache = new ContextCache();

	/** The call that was stored when a native method was called. Java code that the method calls begins without one. */
	private static final class NativeCall {
		final ThreadState thread;
		final int site;
		final long number;
		final long version;
		final int base;

		NativeCall(ThreadState thread, int base) {
			this.thread = thread;
			this.site = thread.waymark$site;
			this.number = thread.waymark$word;
			this.version = thread.waymark$version;
			this.base = base;
		}

		int[] sites() {
			return LucceContexts.sites(site, number, version);
		}

		void putBack() {
			thread.waymark$site = site;
			thread.waymark$word = number;
			thread.waymark$version = version;
		}
	}

	/** Those in progress. */
	private NativeCall[] nativeCalls = new NativeCall[4];
	private int nativeDepth;
	/** The prefix that the calls stand on; 0: that of the thread's root. Read by c/contexts/thread_state.c. */
	private int base;

	LucceContexts(ThreadRoot root) {
		super(root);
	}

	/**
	 * A method is entered: the result is its number (callId), and Thread.entered is its version. Called by the method, before it does anything
	 * else.
	 */
	public static long waymark$enter(long method) {
		ThreadState thread = ThreadState.currentThread();
		LucceContexts contexts = (LucceContexts) of(thread);

		if (method == Encoder.LEAVE)
			return contexts.leave(thread);
		if (method == LucceEncoder.LOST) {
			thread.waymark$entered = LOST;
			return 0;
		}
		return contexts.enter(thread, (int) method);
	}

	private long leave(ThreadState thread) {
		Clients.pause();
		try {
			while (SuperCalls.has(thread.waymark$site - 1))
				undoLast(thread);
			return 0;
		} finally {
			Clients.resume();
		}
	}

	@Override
	void settle(ThreadState thread) {
		undoInactive(thread, false);
	}

	private static void undoInactive(ThreadState thread, boolean isEntry) {
		Clients.pause();
		try {
			while (SuperCalls.isDoubtful(thread.waymark$site - 1) && !SuperCalls.isActive(thread.waymark$site - 1, isEntry))
				undoLast(thread);
		} finally {
			Clients.resume();
		}
	}

	private static void undoLast(ThreadState thread) {
		long[] call = {thread.waymark$site - 1, thread.waymark$word, thread.waymark$version};

		Recorder.lucceWithoutLast(call);
		thread.waymark$site = (int) call[0] + 1;
		thread.waymark$word = call[1];
		thread.waymark$version = call[2];
	}

	private long enter(ThreadState thread, int method) {
		if (SuperCalls.isDoubtful(thread.waymark$site - 1))
			undoInactive(thread, true);
		int site = thread.waymark$site;
		long number = thread.waymark$word;
		long version = thread.waymark$version;

		if (site == 0)
			base = NativeCode.prefixBelow();
		Step step = steps[place(site, method, version)];

		if (step == null || !step.fits(site, method, number, version))
			step = learn(site, method, number, version);
		thread.waymark$entered = step.version;
		return step.to(number);
	}

	private int place(int site, int method, long version) {
		return (int) ((site * 31L + method) * 0x9e3779b97f4a7c15L + version * 0xd6e8feb86659fd93L >>> 40) & steps.length - 1;
	}

	private Step learn(int site, int method, long number, long version) {
		Clients.pause();
		try {
			return add(site, method, number, version);
		} finally {
			Clients.resume();
		}
	}

	private Step add(int site, int method, long number, long version) {
		if (++misses > steps.length && steps.length < MOST_STEPS) {
			Step[] before = steps;

			misses = 0;
			steps = new Step[4 * before.length];
			for (Step step : before)
				if (step != null)
					steps[place(step.site, step.method, step.fromVersion)] = step;
		}
		Recorder.enterLucce(site - 1, method, number, version, members);
		return steps[place(site, method, version)] = new Step(site, method, members);
	}

	@Override
	long context(ThreadState thread) {
		int site = thread.waymark$site;
		long number = thread.waymark$word;
		long version = thread.waymark$version;

		if (site == 0)
			return (long) basePrefix() << 32;
		if (base != 0)
			return Recorder.resolveLucce(site - 1, number, version, base);
		/* Sites have 25 bits. */
		long context = cache.find(number, version << 25 | site);

		if (context == ContextCache.NONE) {
			context = Recorder.resolveLucce(site - 1, number, version, root.prefix());
			cache.put(number, version << 25 | site, context);
		}
		return context;
	}

	private int basePrefix() {
		return base != 0 ? base : root.prefix();
	}

	/* ---- native code ---- */

	@Override
	long enterNative(ThreadState thread) {
		settle(thread);
		int[] sites = sitesAboveNative(thread);
		int prefix = sites == null ? ThreadRoot.LOST_PREFIX : Recorder.prefix(basePrefix(), sites);
		int depth = nativeDepth;

		if (depth == nativeCalls.length)
			nativeCalls = Arrays.copyOf(nativeCalls, 2 * depth);
		nativeCalls[depth] = new NativeCall(thread, base);
		nativeDepth = depth + 1;
		thread.waymark$site = 0;
		thread.waymark$word = 0;
		thread.waymark$version = 0;
		base = prefix;
		return (long) prefix << 32 | depth;
	}

	@Override
	void leaveNative(ThreadState thread, int depth) {
		NativeCall call = nativeCalls[depth];

		call.putBack();
		base = call.base;
		nativeDepth = depth;
	}

	@Override
	int nativePrefix(ThreadState thread) {
		return thread.waymark$site == 0 ? NativeCode.prefixBelow() : base;
	}

	@Override
	int[] sites(ThreadState thread) {
		int[] ret = sitesAboveNative(thread);

		for (int i = nativeDepth - 1; i >= 0 && ret != null; i--)
			ret = join(nativeCalls[i].sites(), ret);
		return ret;
	}

	private static int[] join(int[] below, int[] above) {
		if (below == null)
			return null;
		int[] ret = Arrays.copyOf(below, below.length + above.length);

		System.arraycopy(above, 0, ret, below.length, above.length);
		return ret;
	}

	private static int[] sites(int site, long number, long version) {
		return site == 0 ? new int[0] : Recorder.lucceSites(site - 1, number, version);
	}

	@Override
	int[] sitesAboveNative(ThreadState thread) {
		return sites(thread.waymark$site, thread.waymark$word, thread.waymark$version);
	}
}
