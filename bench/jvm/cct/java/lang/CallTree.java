package java.lang;

import java.util.ArrayList;
import java.util.List;

/**
 * A node of a calling-context tree. Each thread has a tree of its own, so nothing here is locked but the list of roots. A context is
 * active at most once in its thread: so the node can hold the call in progress, and foreign code that calls back several times finds it.
 */
public final class CallTree {
	private static final List<CallTree> ROOTS = new ArrayList<>();
	private static final int FIRST_LENGTH = 4;

	/** The call in progress; a method writes it into its own node before each call. */
	public int site;

	private final int from;
	private final int method;
	/** The child found last: most calls find the same again. */
	private CallTree last;
	/** Open addressing; null: there is at most the child in `last`. */
	private CallTree[] children;
	private int count;

	private CallTree(int from, int method) {
		this.from = from;
		this.method = method;
	}

	/** The root of a thread's tree, when the thread has none yet. */
	public static CallTree orRoot(CallTree node) {
		return node != null ? node : root();
	}

	private static CallTree root() {
		CallTree root = new CallTree(-1, -1);

		synchronized (ROOTS) {
			ROOTS.add(root);
		}
		return root;
	}

	/** The node of a method that the call in progress enters. */
	public CallTree enter(int method) {
		CallTree child = last;

		if (child != null && child.method == method && child.from == site)
			return child;
		return find(method);
	}

	private CallTree find(int method) {
		CallTree[] table = children;

		if (table != null) {
			for (int i = hash(site, method);; i++) {
				CallTree child = table[i & table.length - 1];

				if (child == null)
					break;
				if (child.method == method && child.from == site)
					return last = child;
			}
		}
		return last = add(new CallTree(site, method));
	}

	private static int hash(int site, int method) {
		int ret = (site * 31 + method) * 0x9e3779b1;

		return ret ^ ret >>> 15;
	}

	private CallTree add(CallTree child) {
		if (count == 0) {
			count = 1;
			return child;
		}
		if (children == null) {
			children = new CallTree[FIRST_LENGTH];
			put(children, last);
		} else if (2 * (count + 1) > children.length) {
			CallTree[] grown = new CallTree[2 * children.length];

			for (CallTree old : children)
				if (old != null)
					put(grown, old);
			children = grown;
		}
		put(children, child);
		count++;
		return child;
	}

	private static void put(CallTree[] table, CallTree child) {
		int i = hash(child.from, child.method);

		while (table[i & table.length - 1] != null)
			i++;
		table[i & table.length - 1] = child;
	}

	/** Nodes of all threads but the roots. For the end of the process: other threads may still add some. */
	public static long size() {
		List<CallTree> left;
		long ret = 0;

		synchronized (ROOTS) {
			left = new ArrayList<>(ROOTS);
			ret -= left.size();
		}
		while (!left.isEmpty()) {
			CallTree node = left.remove(left.size() - 1);

			ret++;
			if (node.children == null) {
				if (node.last != null)
					left.add(node.last);
				continue;
			}
			for (CallTree child : node.children)
				if (child != null)
					left.add(child);
		}
		return ret;
	}
}
