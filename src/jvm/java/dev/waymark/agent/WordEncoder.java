package dev.waymark.agent;

import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * A context is a word (core/contexts/sitecode.h). T, W and P are its locals.
 *
 * <pre>
 *   entry:     T = Thread.currentThread(); W = T.word; P = W - the space of this method
 *              if ((P & the method's mask) != 0)
 *                 if ((P = Thread.push(W)) == 0)
 *                    P = Thread.enter(W)
 *   site k:    T.word = (P << length of k) + bits and space of k
 *   exit:      T.word = W
 * </pre>
 *
 * Spaces, masks, lengths and bits are given when the class is loaded: c/classes/template.c finds the constants for them, and the lengths by the
 * instructions around.
 */
final class WordEncoder extends Encoder {
	private final int thread;
	private final int word;
	private final int payload; /* with zeros where a word has the space */
	private final int method;
	private final boolean isKnown;

	WordEncoder(int first, int method, boolean isKnown) {
		this.thread = first;
		this.word = first + 1;
		this.payload = first + 3;
		this.method = method;
		this.isKnown = isKnown;
	}

	@Override
	List<Object> locals() {
		return List.of(THREAD, Opcodes.LONG, Opcodes.LONG);
	}

	@Override
	int localsSize() {
		return 5;
	}

	@Override
	int stack() {
		return 5;
	}

	@Override
	InsnList entry(LabelNode body) {
		InsnList code = new InsnList();

		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, THREAD, "currentThread", "()Ljava/lang/Thread;", false));
		code.add(new InsnNode(Opcodes.DUP));
		code.add(new VarInsnNode(Opcodes.ASTORE, thread));
		code.add(new FieldInsnNode(Opcodes.GETFIELD, THREAD, WORD, "J"));
		code.add(new InsnNode(Opcodes.DUP2));
		code.add(new VarInsnNode(Opcodes.LSTORE, word));
		if (!isKnown) {
			code.add(new InsnNode(Opcodes.POP2));
			code.add(new LdcInsnNode(Word.start(Word.LOST_INDEX)));
			code.add(new VarInsnNode(Opcodes.LSTORE, payload));
			code.add(body);
			return code;
		}
		code.add(new LdcInsnNode(Template.ofMethod(method)));
		code.add(new InsnNode(Opcodes.LSUB));
		code.add(new InsnNode(Opcodes.DUP2));
		code.add(new VarInsnNode(Opcodes.LSTORE, payload));
		code.add(new LdcInsnNode(Template.maskOfMethod(method)));
		code.add(new InsnNode(Opcodes.LAND));
		code.add(new InsnNode(Opcodes.LCONST_0));
		code.add(new InsnNode(Opcodes.LCMP));
		code.add(new JumpInsnNode(Opcodes.IFEQ, body));
		code.add(callWithWord(PUSH));
		code.add(new InsnNode(Opcodes.DUP2));
		code.add(new VarInsnNode(Opcodes.LSTORE, payload));
		code.add(new InsnNode(Opcodes.LCONST_0));
		code.add(new InsnNode(Opcodes.LCMP));
		code.add(new JumpInsnNode(Opcodes.IFNE, body));
		code.add(callWithWord(ENTER));
		code.add(new VarInsnNode(Opcodes.LSTORE, payload));
		code.add(body);
		return code;
	}

	private InsnList callWithWord(String name) {
		InsnList code = new InsnList();

		code.add(new VarInsnNode(Opcodes.LLOAD, word));
		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, THREAD, name, "(J)J", false));
		return code;
	}

	@Override
	InsnList store(int site) {
		InsnList code = new InsnList();

		code.add(new VarInsnNode(Opcodes.ALOAD, thread));
		code.add(new VarInsnNode(Opcodes.LLOAD, payload));
		code.add(new IntInsnNode(Opcodes.BIPUSH, 0));
		code.add(new InsnNode(Opcodes.LSHL));
		code.add(new LdcInsnNode(Template.ofSite(site)));
		code.add(new InsnNode(Opcodes.LADD));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, THREAD, WORD, "J"));
		return code;
	}

	@Override
	InsnList restore() {
		InsnList code = new InsnList();

		code.add(new VarInsnNode(Opcodes.ALOAD, thread));
		code.add(new VarInsnNode(Opcodes.LLOAD, word));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, THREAD, WORD, "J"));
		return code;
	}
}
