package dev.waymark.agent;

import java.util.Arrays;

/**
 * The words that a thread has pushed (core/contexts/sitecode.h), and what the recorder knows of them.
 *
 * <pre>
 *   words   w0 w1 w2 w3 .. .. ..     a word that is stored says how many are pushed: nothing is popped, and the others are of old
 *   calls   c0 c1 .. ..              of the first `known` words
 * </pre>
 *
 * No space is 0. A word without a space is native code: as a stored word it is a start, and says that no call is stored above those that are
 * pushed; as a pushed one it is the prefix that the words above it stand on.
 */
public final class ContextStack extends ThreadContexts {
	/** Ints of a struct jvm_calls; the first is the prefix of the recorder. */
	private static final int CALLS_INTS = 4;
	private static final int FIRST_LENGTH = 64;

	private final ThreadState thread;
	private int[] calls = new int[FIRST_LENGTH * CALLS_INTS];
	/** By a word and the prefix below it. */
	private final ContextCache cache = new ContextCache();

	ContextStack(ThreadState thread, ThreadRoot root) {
		super(root);
		this.thread = thread;
		thread.waymark$words = new long[FIRST_LENGTH];
		thread.waymark$known = 0;
	}

	/**
	 * A method was entered by a word that it cannot go on with: the result is the start that it has instead, or 0 if that takes more than
	 * storing the word: then the method calls `waymark$enter`. Part of the method's compiled code, where a call would mean that all of the
	 * memory may have changed; so it has none. In one piece: each inlined method and each local makes frames of the first compiler larger.
	 * The mantissa of a double has the bits behind the highest one, where a small index is.
	 */
	@ForceInline
	public static long waymark$push(long word) {
		int index = (int) (Double.doubleToRawLongBits(word >>> Word.SPACE_BITS) << 12 >>> 63 - 5);

		if (index >= Word.LAST_SMALL_INDEX || SuperCalls.SPECIAL[(int) word & Word.SPACES - 1])
			return 0;
		if (ThreadState.currentThread().waymark$words[index] != word) {
			ThreadState thread = ThreadState.currentThread();

			thread.waymark$words[index] = word;
			if (thread.waymark$known > index)
				thread.waymark$known = index;
		}
		return Word.SMALL_START + (index + 1) * Word.SPACES;
	}

	/** The rest of the cases of waymark$push. Called by the method, before it does anything else. */
	public static long waymark$enter(long word) {
		ThreadState thread = ThreadState.currentThread();
		ContextStack stack = (ContextStack) of(thread);

		if (word == Encoder.LEAVE || SuperCalls.isDoubtful(word)) {
			Clients.pause();
			try {
				if (word == Encoder.LEAVE)
					return stack.leave(thread);
				thread.waymark$word = word = stack.activeWord(word, true);
			} finally {
				Clients.resume();
			}
		}
		return stack.push(word);
	}

	private long push(long word) {
		if (Word.space(word) == 0)
			return pushNative(word);
		return push(Word.index(word), word);
	}

	private long push(int index, long word) {
		if (index == Word.LOST_INDEX || (index == thread.waymark$words.length && !grow()))
			return Word.start(Word.LOST_INDEX);
		if (thread.waymark$words[index] != word) {
			thread.waymark$words[index] = word;
			thread.waymark$known = Math.min(thread.waymark$known, index);
		}
		return Word.start(index + 1);
	}

	/* ---- native code ---- */

	/** No call is stored: a thread begins, or native code has called this method. */
	private long pushNative(long word) {
		int index = word == 0 ? 0 : Word.index(word);
		int prefix = NativeCode.prefixBelow();

		if (prefix == ThreadRoot.LOST_PREFIX)
			index = Word.LOST_INDEX;
		return prefix == 0 ? Word.start(index) : push(index, Integer.toUnsignedLong(prefix) << Word.SPACE_BITS);
	}

	/** The index behind the last pushed word that is native code; 0: none is. */
	private int aboveNative(long word) {
		int index = Word.index(word);

		while (index > 0 && Word.space(thread.waymark$words[index - 1]) != 0)
			index--;
		return index;
	}

	@Override
	int nativePrefix(ThreadState thread) {
		long word = thread.waymark$word;

		if (Word.space(word) == 0)
			return NativeCode.prefixBelow();
		int above = aboveNative(word);

		return above == 0 ? 0 : (int) (thread.waymark$words[above - 1] >>> Word.SPACE_BITS);
	}

	@Override
	int[] sitesAboveNative(ThreadState thread) {
		long word = thread.waymark$word;

		return Word.space(word) == 0 && word != 0 ? new int[0] : sites(word, aboveNative(word));
	}

	/** The word that a method was entered with which has pushed it below `index`. */
	private long entered(int index) {
		if (index == 0)
			return 0;
		return Word.space(thread.waymark$words[index - 1]) != 0 ? thread.waymark$words[index - 1] : Word.start(index - 1);
	}

	@Override
	long enterNative(ThreadState thread) {
		settle(thread);
		long word = thread.waymark$word;
		long start = push(word);
		int index = Word.index(start);

		thread.waymark$word = start;
		if (index == Word.LOST_INDEX)
			return (long) ThreadRoot.LOST_PREFIX << 32 | Word.LOST_INDEX;
		if (index > thread.waymark$known)
			Recorder.resolve(start, thread.waymark$words, calls, thread.waymark$known, root.prefix());
		thread.waymark$known = Math.max(thread.waymark$known, index);
		return (long) below(index) << 32 | index;
	}

	@Override
	void leaveNative(ThreadState thread, int depth) {
		if (depth != Word.LOST_INDEX)
			thread.waymark$word = entered(depth);
	}

	private static boolean hasCall(long word) {
		return Word.space(word) != 0 && Word.index(word) != Word.LOST_INDEX;
	}

	private static int lastSite(long word) {
		int[] sites = Recorder.sites(word);

		return sites[sites.length - 1];
	}

	private long withoutLast(long word) {
		long below = Recorder.withoutLast(word);

		return Word.isStart(below) ? entered(Word.index(below)) : below;
	}

	@Override
	void settle(ThreadState thread) {
		if (SuperCalls.isDoubtful(thread.waymark$word))
			thread.waymark$word = activeWord(thread.waymark$word, false);
	}

	private long activeWord(long word, boolean isEntry) {
		if (!hasCall(word) || !SuperCalls.isDoubtful(lastSite(word)))
			return word;
		while (hasCall(word)) {
			int last = lastSite(word);

			if (!SuperCalls.has(last) || SuperCalls.isActive(last, isEntry))
				break;
			word = withoutLast(word);
		}
		return word;
	}

	private long leave(ThreadState thread) {
		while (hasCall(thread.waymark$word) && SuperCalls.has(lastSite(thread.waymark$word)))
			thread.waymark$word = withoutLast(thread.waymark$word);
		return 0;
	}

	private boolean grow() {
		Clients.pause();
		try {
			int length = Math.min(2 * thread.waymark$words.length, Word.LOST_INDEX);
			int[] grown = Arrays.copyOf(calls, length * CALLS_INTS);

			thread.waymark$words = Arrays.copyOf(thread.waymark$words, length);
			calls = grown;
			return true;
		} catch (OutOfMemoryError e) {
			return false;
		} finally {
			Clients.resume();
		}
	}

	/* ---- captures ---- */

	/** The prefix below a word, whose pushed words are known. */
	private int below(int index) {
		return index == 0 ? root.prefix() : calls[(index - 1) * CALLS_INTS];
	}

	@Override
	long context(ThreadState thread) {
		long word = thread.waymark$word;
		int index = Word.index(word);

		if (index > thread.waymark$known || index == Word.LOST_INDEX)
			return resolve(word, index);
		long context = cache.find(word, below(index));

		return context != ContextCache.NONE ? context : resolve(word, index);
	}

	private long resolve(long word, int index) {
		long context = Recorder.resolve(word, thread.waymark$words, calls, thread.waymark$known, root.prefix());

		if (index == Word.LOST_INDEX)
			return context;
		thread.waymark$known = Math.max(thread.waymark$known, index);
		cache.put(word, below(index), context);
		return context;
	}

	@Override
	int[] sites(ThreadState thread) {
		return sites(thread.waymark$word, 0);
	}

	/** first: the lowest word whose calls are wanted. */
	private int[] sites(long word, int first) {
		int index = Word.index(word);

		if (index == Word.LOST_INDEX)
			return null;
		int[] ret = new int[FIRST_LENGTH];
		int count = 0;

		for (int i = first; i <= index; i++) {
			int[] calls = Recorder.sites(i < index ? thread.waymark$words[i] : word);

			if (count + calls.length > ret.length)
				ret = Arrays.copyOf(ret, 2 * (count + calls.length));
			System.arraycopy(calls, 0, ret, count, calls.length);
			count += calls.length;
		}
		return Arrays.copyOf(ret, count);
	}
}
