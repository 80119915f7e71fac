package dev.waymark.agent;

import java.util.Arrays;

/**
 * The words that a thread has pushed, what the recorder knows of them, and numbers of contexts that were captured before. The running
 * thread's only.
 *
 * <pre>
 *   words   w0 w1 w2 w3 .. .. ..     a word that is stored says how many are pushed: nothing is popped, and the others are of old
 *   calls   c0 c1 .. ..              of the first `known` words
 * </pre>
 */
public final class ContextStack {
	/** enum wm_prefix: what a thread's contexts stand on. */
	static final int PROCESS = 1;
	static final int THREAD = 2;

	/** Ints of a struct jvm_calls; the first is the prefix of the recorder. */
	private static final int CALLS_INTS = 4;
	private static final int FIRST_LENGTH = 64;
	private static final int FIRST_CACHE = 64;
	private static final int LARGEST_CACHE = 1 << 15;

	private final int root;
	private long[] words = new long[FIRST_LENGTH];
	private int[] calls = new int[FIRST_LENGTH * CALLS_INTS];
	private int known;

	/** By a hash of the first two: a word, the prefix below it, and its context. A place has what came last. */
	private long[] cachedWords = new long[FIRST_CACHE];
	private int[] cachedBelow = new int[FIRST_CACHE];
	private long[] cached = new long[FIRST_CACHE];
	private int misses;

	ContextStack(int root) {
		this.root = root;
	}

	static ContextStack of(ThreadState thread) {
		ContextStack stack = thread.waymark$stack;

		if (stack == null)
			thread.waymark$stack = stack = new ContextStack(THREAD);
		return stack;
	}

	/**
	 * A method was entered by a word that it cannot go on with: the result is the payload that it has instead. Called by the method,
	 * before it does anything else.
	 */
	public static long waymark$push(long word) {
		return of(ThreadState.currentThread()).pushWord(word);
	}

	private long pushWord(long word) {
		int index = Word.index(word);

		if (word == 0 || index == Word.LOST_INDEX || (index == words.length && !grow()))
			return Word.start(word == 0 ? 0 : Word.LOST_INDEX);
		if (words[index] != word) {
			words[index] = word;
			known = Math.min(known, index);
		}
		return Word.start(index + 1);
	}

	private boolean grow() {
		try {
			int[] calls = Arrays.copyOf(this.calls, 2 * this.calls.length);

			words = Arrays.copyOf(words, 2 * words.length);
			this.calls = calls;
			return true;
		} catch (OutOfMemoryError e) {
			return false;
		}
	}

	/* ---- captures ---- */

	/** Prefix and site of the context whose word was stored last. */
	long context(long word) {
		int index = Word.index(word);

		if (index > known || index == Word.LOST_INDEX)
			return resolve(word, index);
		int below = index == 0 ? root : calls[(index - 1) * CALLS_INTS];
		int place = place(word, below);

		return cachedWords[place] == word && cachedBelow[place] == below ? cached[place] : resolve(word, index);
	}

	private int place(long word, int below) {
		long mixed = (word ^ (long) below << 20) * 0x9e3779b97f4a7c15L;

		return (int) (mixed >>> 40) & cached.length - 1;
	}

	private long resolve(long word, int index) {
		long context = Recorder.resolve(word, words, calls, known, root);

		if (index == Word.LOST_INDEX)
			return context;
		known = Math.max(known, index);
		if (++misses > cached.length && cached.length < LARGEST_CACHE)
			growCache();
		int below = index == 0 ? root : calls[(index - 1) * CALLS_INTS];
		int place = place(word, below);

		cachedWords[place] = word;
		cachedBelow[place] = below;
		cached[place] = context;
		return context;
	}

	private void growCache() {
		int length = 4 * cached.length;

		misses = 0;
		cachedWords = new long[length];
		cachedBelow = new int[length];
		cached = new long[length];
	}

	/** The words of the context, the outermost first. */
	long[] words(long word) {
		int index = Word.index(word);
		long[] ret = Arrays.copyOf(words, index + 1);

		ret[index] = word;
		return ret;
	}
}
