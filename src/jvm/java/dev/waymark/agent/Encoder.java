package dev.waymark.agent;

import java.util.List;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.LabelNode;

/**
 * The code that keeps a thread's context in one method. It has locals of its own behind those of the method, the first of which is the
 * thread; each is set at the entry and not afterwards.
 */
abstract class Encoder {
	static final String THREAD = "java/lang/Thread";
	/** The method that the agent adds to Thread: (J)J, which calls the encoder's class. */
	static final String ENTER = "waymark$enter";
	/** The method of Thread that calls ContextStack; of words only. */
	static final String PUSH = "waymark$push";

	/** A field of Thread. */
	static final String WORD = "waymark$word";

	/** The argument of ENTER when an exception leaves a constructor: the calls that have entered it from constructors are undone. */
	static final long LEAVE = -1;

	private static boolean isLucce;

	/** Before the first method is rewritten. */
	static void choose(boolean isLucceWanted) {
		isLucce = isLucceWanted;
	}

	static boolean isLucce() {
		return isLucce;
	}

	/** first: the first local that is free. method: in the template. isKnown: its contexts can be known. */
	static Encoder of(int first, int method, boolean isKnown) {
		return isLucce ? new LucceEncoder(first, method, isKnown) : new WordEncoder(first, method, isKnown);
	}

	/** The types of its locals, as stack map frames have them. */
	abstract List<Object> locals();

	/** How many places they take. */
	abstract int localsSize();

	/** The operands that the added code needs above the method's own. */
	abstract int stack();

	/** Ends with the label, which may be jumped to. Behind all calls of store. */
	abstract InsnList entry(LabelNode body);

	abstract InsnList store(int site);

	abstract InsnList restore();
}
