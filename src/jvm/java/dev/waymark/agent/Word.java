package dev.waymark.agent;

/** The layout of a context's word: core/contexts/sitecode.h has the whole of it. */
final class Word {
	static final int SPACE_BITS = 14;
	static final int SPACES = 1 << SPACE_BITS;
	static final int LOST_INDEX = 0xffff;
	/** The last one that takes 5 bits. */
	static final int LAST_SMALL_INDEX = 31;
	/** The start of index 0; that of other small ones is so many SPACES more. */
	static final long SMALL_START = 0b10 << 5 + SPACE_BITS;

	private Word() {
	}

	static int space(long word) {
		return (int) word & SPACES - 1;
	}

	/** A word without calls above `index` pushed words, and without a space. */
	static long start(int index) {
		if (index <= LAST_SMALL_INDEX)
			return SMALL_START + index * SPACES;
		return (index < 1 << 10 ? 0b110L << 10 | index : 0b111L << 16 | index) << SPACE_BITS;
	}

	/** Has the word, which is not 0, no calls? */
	static boolean isStart(long word) {
		return word - space(word) == start(index(word));
	}

	/** How many words are pushed below the word. */
	static int index(long word) {
		long payload = word >>> SPACE_BITS;
		long behindOne = payload << Long.numberOfLeadingZeros(payload) << 1;

		if (behindOne >= 0)
			return (int) (behindOne >>> 63 - 5);
		return (int) (behindOne << 1 >= 0 ? behindOne << 2 >>> 64 - 10 : behindOne << 2 >>> 64 - 16);
	}
}
