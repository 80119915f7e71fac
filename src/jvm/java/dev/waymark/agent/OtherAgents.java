package dev.waymark.agent;

/** Agents that change classes by java.lang.instrument. Any thread. */
public final class OtherAgents {
	private static volatile boolean areThere;
	/** A class was loaded before they came, and has no sites where it resolves names. */
	private static volatile boolean areLate;
	private static volatile boolean isClassLoaded;

	private OtherAgents() {
	}

	/** Java code of them runs wherever a class is loaded, from now on. */
	static void come() {
		areLate |= isClassLoaded && !areThere;
		areThere = true;
	}

	/** A class resolves names without sites. */
	static void classIsLoaded() {
		isClassLoaded = true;
	}

	/** Can what they do while a class is loaded have another context than that of the call before? */
	static boolean areSeen() {
		return areThere && !areLate;
	}

	static boolean areThere() {
		return areThere;
	}

	/** Called by InstrumentationImpl when one has added a transformer: ours is to see classes behind it. */
	public static void addedTransformer() {
		renew();
	}

	private static native void renew();
}
