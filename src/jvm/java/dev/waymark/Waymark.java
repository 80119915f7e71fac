package dev.waymark;

import dev.waymark.agent.Recorder;
import dev.waymark.agent.Walker;

/**
 * Calling contexts of the running thread: the chain of calls that leads here, as a small number.
 *
 * <p>Under the agent (libwaymark-jvm.so) each application method keeps its thread's context up to date, or, where the agent's clients walk the
 * stack, these methods do so, too. Without it nothing is kept:
 * {@link #capture} returns 0, {@link #token} says so, and {@link #event} does nothing. All methods may be called from any thread.
 */
public final class Waymark {
	private static final String NOT_INSTRUMENTED = "wm1:not-instrumented";

	private Waymark() {
	}

	/** Whether the agent keeps contexts in this process. */
	public static boolean isInstrumented() {
		return State.IS_ON;
	}

	/** The exact context of the caller. Equal contexts have equal numbers; the number means nothing in other processes. */
	public static long capture() {
		if (State.WALKS)
			return Walker.capture();
		return State.IS_ON ? Recorder.capture() : 0;
	}

	/** The exact context of the caller as printable text, which {@code waymark decode} finds in any log. */
	public static String token() {
		if (State.WALKS)
			return Walker.token(Walker.capture());
		return State.IS_ON ? Recorder.token() : NOT_INSTRUMENTED;
	}

	/** Appends the context, the time, the thread, the name and the value to the recording. name: not null. */
	public static void event(String name, long value) {
		if (State.WALKS)
			Walker.event(Walker.capture(), name, value);
		else if (State.IS_ON)
			Recorder.event(name, value);
	}

	/** The agent registers this method, in the one copy of the class that it has brought itself. */
	private static native boolean probe();

	/** A class of its own: the agent's look-up of this one initialises it, before the method is registered. */
	private static final class State {
		static final boolean IS_ON = isOn();
		static final boolean WALKS = IS_ON && Walker.isOn();

		private static boolean isOn() {
			try {
				return probe();
			} catch (UnsatisfiedLinkError e) {
				return false;
			}
		}
	}
}
