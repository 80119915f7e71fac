package dev.waymark.agent;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Instructions of a method that matter only while a client is on. One thread. */
final class Places {
	private final Set<AbstractInsnNode> handlers = new HashSet<>();
	private final Set<AbstractInsnNode> passing = new HashSet<>();

	Places(MethodNode method) {
		if (!Clients.areOn())
			return;
		for (TryCatchBlockNode block : method.tryCatchBlocks) {
			AbstractInsnNode first = instruction(block.handler);

			handlers.add(first);
			if (block.type == null && first.getOpcode() == Opcodes.ASTORE)
				findPassing(first);
		}
	}

	/**
	 * A handler of everything, as compilers make them of finally and of synchronized: it keeps what was thrown in a local, and throws that on
	 * when it has done what it is for.
	 */
	private void findPassing(AbstractInsnNode store) {
		int local = ((VarInsnNode) store).var;

		for (AbstractInsnNode insn = store.getNext(); insn != null; insn = insn.getNext()) {
			if (insn.getOpcode() == Opcodes.ASTORE && ((VarInsnNode) insn).var == local)
				return;
			if (insn.getOpcode() == Opcodes.ALOAD && ((VarInsnNode) insn).var == local
					&& next(insn) != null && next(insn).getOpcode() == Opcodes.ATHROW) {
				passing.add(next(insn));
				return;
			}
		}
	}

	/** The next instruction; null: there is none. */
	private static AbstractInsnNode next(AbstractInsnNode insn) {
		AbstractInsnNode ret = insn.getNext();

		while (ret != null && ret.getOpcode() < 0)
			ret = ret.getNext();
		return ret;
	}

	/** The node, or the first one behind it that is an instruction. */
	private static AbstractInsnNode instruction(AbstractInsnNode node) {
		while (node.getOpcode() < 0)
			node = node.getNext();
		return node;
	}

	/** Behind a call no other code runs: what happens there is in the method itself. */
	boolean isCall(AbstractInsnNode insn) {
		return Clients.areOn() && Sites.isCall(insn);
	}

	/** Does the instruction, which throws, throw on what the method has caught in a handler of everything? */
	boolean isPassing(AbstractInsnNode insn) {
		return passing.contains(insn);
	}

	/** Does a handler begin with the instruction? An exception of a superclass's constructor has left its context behind. */
	boolean isHandler(AbstractInsnNode insn) {
		return handlers.contains(insn);
	}
}
