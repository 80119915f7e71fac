package dev.waymark.agent;

/** Contexts that were captured before, by two words that name them. A place has what came last. One thread. */
final class ContextCache {
	private static final int FIRST_LENGTH = 64;
	private static final int LARGEST = 1 << 15;
	/** In longs: the two words and the context. */
	private static final int ENTRY = 3;

	/** The result where nothing was found: no context has this value. */
	static final long NONE = 0;

	private long[] entries = new long[FIRST_LENGTH * ENTRY];
	private int misses;

	/** The first long of an entry. */
	private int place(long a, long b) {
		long mixed = (a ^ b << 20) * 0x9e3779b97f4a7c15L;

		return ((int) (mixed >>> 40) & entries.length / ENTRY - 1) * ENTRY;
	}

	long find(long a, long b) {
		long[] entries = this.entries;
		int place = place(a, b);

		return entries[place] == a && entries[place + 1] == b ? entries[place + 2] : NONE;
	}

	private void grow() {
		Clients.pause();
		try {
			entries = new long[4 * entries.length];
		} finally {
			Clients.resume();
		}
	}

	void put(long a, long b, long context) {
		if (++misses > entries.length / ENTRY && entries.length < LARGEST * ENTRY) {
			misses = 0;
			grow();
		}
		int place = place(a, b);

		entries[place] = a;
		entries[place + 1] = b;
		entries[place + 2] = context;
	}
}
