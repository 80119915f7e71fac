package dev.waymark.agent;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Lines of a method to which code will be added. A table of line numbers may have several at one place. The virtual machine takes the first
 * for the instruction there and the last for those behind it, so code between the place and the instruction would change its line.
 */
final class LineNumbers {
	private LineNumbers() {
	}

	/** Leaves the first line at a place. The last one is at the next instruction, if that has none of its own. */
	static void separate(MethodNode method) {
		List<LineNumberNode> here = new ArrayList<>();
		AbstractInsnNode behind = null;
		int line = 0;

		for (AbstractInsnNode insn : method.instructions) {
			if (insn instanceof LineNumberNode)
				here.add((LineNumberNode) insn);
			if (insn.getOpcode() < 0)
				continue;
			if (behind != null && here.isEmpty())
				addLine(method, behind, line);
			behind = null;
			if (here.size() > 1) {
				behind = insn;
				line = here.get(here.size() - 1).line;
				here.subList(1, here.size()).forEach(method.instructions::remove);
			}
			here.clear();
		}
	}

	private static void addLine(MethodNode method, AbstractInsnNode behind, int line) {
		LabelNode label = new LabelNode();

		method.instructions.insert(behind, label);
		method.instructions.insert(label, new LineNumberNode(line, label));
	}
}
