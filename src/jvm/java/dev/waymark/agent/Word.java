package dev.waymark.agent;

/** The layout of a context's word: core/contexts/sitecode.h has the whole of it. */
final class Word {
	static final int PAYLOAD_BITS = 50;
	static final int LOST_INDEX = 0xffff;
	/** The last one that takes 5 bits. */
	static final int LAST_SMALL_INDEX = 31;
	/** The payload of index 0; that of other small ones is so much more. */
	static final int SMALL_START = 0b10 << 5;

	private Word() {
	}

	static int space(long word) {
		return (int) (word >>> PAYLOAD_BITS);
	}

	/** A payload without calls above `index` pushed words. */
	static long start(int index) {
		if (index <= LAST_SMALL_INDEX)
			return SMALL_START + index;
		return index < 1 << 10 ? 0b110 << 10 | index : 0b111 << 16 | index;
	}

	/** Has the word, which is not 0, no calls? */
	static boolean isStart(long word) {
		long payload = word & (1L << PAYLOAD_BITS) - 1;

		return payload == start(index(word));
	}

	/** How many words are pushed below the word. */
	static int index(long word) {
		long payload = word & (1L << PAYLOAD_BITS) - 1;
		long behindOne = payload << Long.numberOfLeadingZeros(payload) << 1;

		if (behindOne >= 0)
			return (int) (behindOne >>> 63 - 5);
		return (int) (behindOne << 1 >= 0 ? behindOne << 2 >>> 64 - 10 : behindOne << 2 >>> 64 - 16);
	}
}
