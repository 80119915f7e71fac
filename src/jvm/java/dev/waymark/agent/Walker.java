package dev.waymark.agent;

/** The way from Java into the recorder where contexts are walks of the stack (c/bridge/walked_natives.c). Any thread. */
public final class Walker {
	private Walker() {
	}

	/** Whether these methods are registered. */
	public static boolean isOn() {
		try {
			return probe();
		} catch (UnsatisfiedLinkError e) {
			return false;
		}
	}

	/** Prefix and site of the context of the caller's caller. */
	public static native long capture();

	public static native String token(long context);

	/** name: not null. */
	public static native void event(long context, String name, long value);

	/** A task begins that was enqueued in one context, in another one. */
	public static native void beginTask(long enqueued, long here);

	public static native void endTask();

	private static native boolean probe();
}
