package dev.waymark.agent;

/**
 * The places that the rewriter adds for events of the virtual machine (c/clients/client.h). Events come in the middle of a method, whose
 * thread has the context of its last site. So while a client is on, nothing that can raise an event is left out as no site: there are no
 * quiet methods and no leaves, and a method has sites at its entry, at the start of each handler and behind each call.
 */
final class Clients {
	/** Instructions that are places: enum jvm_places of c/clients/client.h. */
	private static final int ALLOCATIONS = 1;
	private static final int MONITORS = 2;
	private static final int THROWS = 4;

	private static boolean areOn;
	private static int places;

	private Clients() {
	}

	/** Before the first method is rewritten. */
	static void start(int places) {
		Clients.places = places;
		areOn = true;
	}

	static boolean areOn() {
		return areOn;
	}

	/** The kind of a site where an object is allocated. kind: what it is otherwise. */
	static int allocation(int kind) {
		return (places & ALLOCATIONS) != 0 ? Sites.asPlace(kind) : kind;
	}

	/** The kind of an instruction that enters a monitor. */
	static int locking() {
		return (places & MONITORS) != 0 ? Sites.asPlace(Sites.NONE) : Sites.NONE;
	}

	/** The kind of an instruction that throws. kind: what it is otherwise. */
	static int throwing(int kind) {
		return haveExceptions() ? Sites.asPlace(kind) : kind;
	}

	static boolean haveExceptions() {
		return (places & THROWS) != 0;
	}

	/** The running thread's context is doubtful (SuperCalls), and an event is raised. Called by the agent, which is paused. */
	static void settle() {
		ThreadState thread = ThreadState.currentThread();

		ThreadContexts.of(thread).settle(thread);
	}

	/** From here on to `resume` this thread raises no events: it does the agent's own work. */
	static void pause() {
		if (areOn)
			pauseEvents();
	}

	static void resume() {
		if (areOn)
			resumeEvents();
	}

	private static native void pauseEvents();

	private static native void resumeEvents();
}
