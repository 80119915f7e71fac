package dev.waymark.agent;

/** The way from Java into the recorder. The native methods are those of c/bridge/natives.c. Any thread. */
public final class Recorder {
	private Recorder() {
	}

	/** Prefix and site of the caller's context. */
	public static long capture() {
		ThreadState thread = ThreadState.currentThread();

		if (Oracle.isOn())
			Oracle.check(thread, 0);
		ThreadContexts contexts = ThreadContexts.of(thread);
		long context = contexts.context(thread);

		return contexts.tasks == 0 ? context : inTask(context);
	}

	/** The caller goes on with a task that was enqueued in that context. */
	public static void beginTask(long enqueued) {
		long here = capture();

		ThreadContexts.of(ThreadState.currentThread()).tasks++;
		beginTask(enqueued, here);
	}

	public static void endTask() {
		ThreadContexts contexts = ThreadContexts.of(ThreadState.currentThread());

		if (contexts.tasks == 0)
			return;
		contexts.tasks--;
		leaveTask();
	}

	public static String token() {
		return token(capture());
	}

	public static void event(String name, long value) {
		event(capture(), name, value);
	}

	/**
	 * The context of a word above `words`, of which `known` have their calls in `calls`; all of those below the word have them then.
	 * root: enum wm_prefix.
	 */
	static native long resolve(long word, long[] words, int[] calls, int known, int root);

	/** The context of a call, whose site may be that of a capture; site: its number. */
	static native long resolveLucce(int site, long number, long version, int root);

	/** A method is entered by a call; site: -1 if there is none. step: gets the members of struct lucce_step. */
	static native void enterLucce(int site, int method, long number, long version, long[] step);

	/** The prefix that the contexts of a thread stand on which was started by the calls; starter: the prefix below them. */
	static native int threadRoot(int starter, int[] sites);

	/** The prefix of calls above another prefix. */
	static native int prefix(int below, int[] sites);

	private static native void beginTask(long enqueued, long here);

	private static native void leaveTask();

	/** A context of this thread in the thread's task. */
	private static native long inTask(long context);

	private static native String token(long context);

	private static native void event(long context, String name, long value);

	/** The sites of a word, the outermost first. */
	static native int[] sites(long word);

	/** The word that the caller of the last site was entered with; if that has pushed it: its space and a payload without calls. */
	static native long withoutLast(long word);

	/** call: site, number and version; becomes the call that has entered the site's method. */
	static native void lucceWithoutLast(long[] call);

	/** The sites of a call, its own the last one; null: they are lost. */
	static native int[] lucceSites(int site, long number, long version);

	/** Where a site is: class.methodDESCRIPTOR:line, with dots in the class. */
	static native String describe(int site);

	/** Counts a comparison; what: null if it agreed, else what differed. */
	static native void compared(String what);

	/** Counts a comparison that cannot be made: the context is not known. */
	static native void lost();

	/** One line on standard error. */
	static native void say(String line);

	/** Prints "SUBJECT: KIND" if it is the first line of the kind; the others are counted. */
	static native void sayOf(String subject, String kind);
}
