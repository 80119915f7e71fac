package dev.waymark.agent;

/** The layout of a context's word: core/contexts/sitecode.h has the whole of it. */
final class Word {
	static final int PAYLOAD_BITS = 50;
	static final int INDEX_BITS = 16;
	/** Payloads below 1 << PLAIN_BITS have room for any code. */
	static final int PLAIN_BITS = PAYLOAD_BITS - 12;
	static final int LOST_INDEX = (1 << INDEX_BITS) - 1;

	private Word() {
	}

	static long ofSpace(int space) {
		return (long) space << PAYLOAD_BITS;
	}

	/** A payload without calls above `index` pushed words. */
	static long start(int index) {
		return 1L << INDEX_BITS | index;
	}

	/** How many words are pushed below the word. */
	static int index(long word) {
		long payload = word & (1L << PAYLOAD_BITS) - 1;

		return (int) (payload << Long.numberOfLeadingZeros(payload) + 1 >>> 64 - INDEX_BITS);
	}
}
