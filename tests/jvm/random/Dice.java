package random;

import java.util.List;

/** SplitMix64: the same numbers from the same seed, everywhere. */
final class Dice {
	private long state;

	Dice(long seed) {
		state = seed * 1000003;
	}

	int roll(int sides) {
		state += 0x9e3779b97f4a7c15L;
		long z = state;
		z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
		z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
		return (int) (((z ^ (z >>> 31)) >>> 32) % sides);
	}

	boolean oneIn(int sides) {
		return roll(sides) == 0;
	}

	/** null: there is none. */
	<T> T pick(List<T> all) {
		return all.isEmpty() ? null : all.get(roll(all.size()));
	}

	@SafeVarargs
	final <T> T of(T... all) {
		return all[roll(all.length)];
	}
}
