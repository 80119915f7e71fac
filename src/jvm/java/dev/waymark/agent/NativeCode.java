package dev.waymark.agent;

/** Contexts go on into native code that was built with Waymark, and from it into Java (c/bridge/native_code.h). Any thread. */
final class NativeCode {
	/** There is such code in the process. */
	private static volatile boolean isThere;

	private NativeCode() {
	}

	/** A native method is called: the prefix that it stands on, and in the low half what `leave` needs. */
	static long enter() {
		ThreadState thread = ThreadState.currentThread();

		isThere = true;
		return ThreadContexts.of(thread).enterNative(thread);
	}

	/** The native method returns, or throws. */
	static void leave(int depth) {
		ThreadState thread = ThreadState.currentThread();

		ThreadContexts.of(thread).leaveNative(thread, depth);
	}

	/** The prefix below a method that was entered without a call: that of native code, or 0 if there is none. */
	static int prefixBelow() {
		return isThere ? prefix() : 0;
	}

	private static native int prefix();
}
