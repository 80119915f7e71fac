package dev.waymark.agent;

/** The way from Java into the recorder. The native methods are those of c/natives.c. Any thread. */
public final class Recorder {
	private static final int[] NONE = {};

	private Recorder() {
	}

	public static long capture() {
		ThreadState thread = checkedThread();

		return capture(sites(thread), thread.waymark$depth);
	}

	public static String token() {
		ThreadState thread = checkedThread();

		return token(sites(thread), thread.waymark$depth);
	}

	public static void event(String name, long value) {
		ThreadState thread = checkedThread();

		event(sites(thread), thread.waymark$depth, name, value);
	}

	/** The running thread, whose context the oracle has seen. */
	private static ThreadState checkedThread() {
		ThreadState thread = ThreadState.currentThread();

		if (Oracle.isOn())
			Oracle.check(sites(thread), thread.waymark$depth, 0);
		return thread;
	}

	private static int[] sites(ThreadState thread) {
		int[] sites = thread.waymark$sites;

		return sites != null ? sites : NONE;
	}

	private static native long capture(int[] sites, int depth);

	private static native String token(int[] sites, int depth);

	private static native void event(int[] sites, int depth, String name, long value);

	/** The number of a class, of a method of it, of a site of that; -1: there is no room. Strings are copied. */
	static native int addClass(String loader, String name, String file);

	static native int addMethod(int owner, String name, String descriptor, int line);

	/** kind: enum wmk_site_kind. position: bytecode index. line: 0 if not known. callee: of a foreign call, else null. */
	static native int addSite(int method, int kind, int position, int line, String callee);

	/** Where a site is: class.methodDESCRIPTOR:line, with dots in the class. */
	static native String describe(int site);

	/** Counts a comparison; what: null if it agreed, else what differed. */
	static native void compared(String what);

	/** One line on standard error. */
	static native void say(String line);
}
