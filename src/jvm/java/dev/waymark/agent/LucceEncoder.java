package dev.waymark.agent;

import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * The paper's encoder: C and V are the callId and the version of the method's activation, and T, W, X, K what Thread had at the entry.
 *
 * <pre>
 *   entry:     T = Thread.currentThread(); W = T.word; X = T.version; K = T.site
 *              C = Thread.enter(this method); V = T.entered
 *   site k:    T.word = C; T.version = V; T.site = k + 1
 *   exit:      T.word = W; T.version = X; T.site = K
 * </pre>
 */
final class LucceEncoder extends Encoder {
	private static final String VERSION = "waymark$version";
	private static final String SITE = "waymark$site";
	private static final String ENTERED = "waymark$entered";

	/** For the number of a method whose contexts cannot be known. */
	static final int LOST = -2;

	private final int thread;
	/** The argument of ENTER. */
	private final long number;

	LucceEncoder(int first, int method, boolean isKnown) {
		this.thread = first;
		this.number = isKnown ? Template.ofMethod(method) : LOST;
	}

	private int callerNumber() {
		return thread + 1;
	}

	private int callerVersion() {
		return thread + 3;
	}

	private int callerSite() {
		return thread + 5;
	}

	private int callId() {
		return thread + 6;
	}

	private int version() {
		return thread + 8;
	}

	@Override
	List<Object> locals() {
		return List.of(THREAD, Opcodes.LONG, Opcodes.LONG, Opcodes.INTEGER, Opcodes.LONG, Opcodes.LONG);
	}

	@Override
	int localsSize() {
		return 10;
	}

	@Override
	int stack() {
		return 3;
	}

	private void get(InsnList code, String field, String type, int local) {
		code.add(new VarInsnNode(Opcodes.ALOAD, thread));
		code.add(new FieldInsnNode(Opcodes.GETFIELD, THREAD, field, type));
		code.add(new VarInsnNode(type.equals("J") ? Opcodes.LSTORE : Opcodes.ISTORE, local));
	}

	private void put(InsnList code, String field, int local) {
		code.add(new VarInsnNode(Opcodes.ALOAD, thread));
		code.add(new VarInsnNode(Opcodes.LLOAD, local));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, THREAD, field, "J"));
	}

	@Override
	InsnList entry(LabelNode body) {
		InsnList code = new InsnList();

		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, THREAD, "currentThread", "()Ljava/lang/Thread;", false));
		code.add(new VarInsnNode(Opcodes.ASTORE, thread));
		get(code, WORD, "J", callerNumber());
		get(code, VERSION, "J", callerVersion());
		get(code, SITE, "I", callerSite());
		code.add(new LdcInsnNode(number));
		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, THREAD, ENTER, "(J)J", false));
		code.add(new VarInsnNode(Opcodes.LSTORE, callId()));
		get(code, ENTERED, "J", version());
		code.add(body);
		return code;
	}

	@Override
	InsnList store(int site) {
		InsnList code = new InsnList();

		put(code, WORD, callId());
		put(code, VERSION, version());
		code.add(new VarInsnNode(Opcodes.ALOAD, thread));
		code.add(new LdcInsnNode(Template.ofSite(site))); /* becomes its number plus 1 */
		code.add(new InsnNode(Opcodes.L2I));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, THREAD, SITE, "I"));
		return code;
	}

	@Override
	InsnList restore() {
		InsnList code = new InsnList();

		put(code, WORD, callerNumber());
		put(code, VERSION, callerVersion());
		code.add(new VarInsnNode(Opcodes.ALOAD, thread));
		code.add(new VarInsnNode(Opcodes.ILOAD, callerSite()));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, THREAD, SITE, "I"));
		return code;
	}
}
