import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Makes each method of the application find or make its node of the calling-context tree. T, P and W are three locals behind the
 * method's own.
 *
 * <pre>
 *   entry:     T = Thread.currentThread(); P = CallTree.orRoot(T.node); W = P.enter(method); T.node = W
 *   site k:    W.site = k
 *   handler:   T.node = W
 *   exit:      T.node = P, before each return, and in a catch-all
 * </pre>
 *
 * Methods without calls get no node, since no context below them can be asked for; so they cost nothing, as under Waymark's agent.
 */
public final class TreeRewriter implements ClassFileTransformer {
	private static final String THREAD = "java/lang/Thread";
	private static final String TREE = "java/lang/CallTree";
	private static final String NODE = "L" + TREE + ";";
	/** Whose static methods, and whose constructor, call nothing of the application. */
	private static final Set<String> QUIET = Set.of("java/lang/Math", "java/lang/StrictMath", "java/lang/Object");

	private final AtomicInteger methods = new AtomicInteger();
	private final AtomicInteger sites = new AtomicInteger();

	@Override
	public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
		if (loader == null || loader == ClassLoader.getPlatformClassLoader() || loader == TreeRewriter.class.getClassLoader() || name == null
				|| name.startsWith("jdk/internal/") || name.equals("Agent"))
			return null;
		try {
			ClassNode node = new ClassNode();
			ClassWriter writer = new ClassWriter(0);

			new ClassReader(bytes).accept(node, ClassReader.EXPAND_FRAMES);
			for (MethodNode method : node.methods)
				rewrite(node, method);
			node.accept(writer);
			return writer.toByteArray();
		} catch (MethodTooLargeException e) {
			System.err.println("cct: " + name + '.' + e.getMethodName() + ": its class is left out: it would be too large");
			return null;
		} catch (RuntimeException e) {
			System.err.println("cct: " + name + ": " + e);
			return null;
		}
	}

	private static boolean isSite(AbstractInsnNode insn) {
		if (insn.getOpcode() == Opcodes.INVOKESTATIC || insn.getOpcode() == Opcodes.INVOKESPECIAL)
			return !QUIET.contains(((MethodInsnNode) insn).owner);
		return insn.getOpcode() >= Opcodes.INVOKEVIRTUAL && insn.getOpcode() <= Opcodes.INVOKEDYNAMIC;
	}

	/** The call of another constructor for the same object. */
	private static AbstractInsnNode superCall(MethodNode method) {
		int news = 0;

		for (AbstractInsnNode insn : method.instructions) {
			if (insn.getOpcode() == Opcodes.NEW)
				news++;
			if (insn.getOpcode() == Opcodes.INVOKESPECIAL && ((MethodInsnNode) insn).name.equals("<init>") && news-- == 0)
				return insn;
		}
		return null;
	}

	private void rewrite(ClassNode owner, MethodNode method) {
		boolean isConstructor = method.name.equals("<init>"), hasSites = false;
		AbstractInsnNode superCall = isConstructor ? superCall(method) : null;
		int own = method.maxLocals;

		for (AbstractInsnNode insn : method.instructions)
			hasSites |= isSite(insn);
		if (!hasSites || (isConstructor && superCall == null))
			return;
		for (AbstractInsnNode insn : method.instructions.toArray())
			rewrite(method, insn, own);
		addCatchAll(owner, method, superCall, own);
		method.instructions.insert(prologue(own));
		method.maxLocals += 3;
		method.maxStack = Math.max(method.maxStack + 2, 3);
	}

	private void rewrite(MethodNode method, AbstractInsnNode insn, int own) {
		if (isSite(insn)) {
			InsnList code = new InsnList();

			code.add(new VarInsnNode(Opcodes.ALOAD, own + 2));
			code.add(new LdcInsnNode(sites.getAndIncrement()));
			code.add(new FieldInsnNode(Opcodes.PUTFIELD, TREE, "site", "I"));
			method.instructions.insertBefore(insn, code);
		} else if (insn.getOpcode() >= Opcodes.IRETURN && insn.getOpcode() <= Opcodes.RETURN) {
			method.instructions.insertBefore(insn, store(own, own + 1));
		} else if (insn instanceof FrameNode) {
			FrameNode frame = (FrameNode) insn;

			frame.local = withOwn(frame.local, own);
		}
	}

	/** T.node = a local. */
	private static InsnList store(int own, int local) {
		InsnList code = new InsnList();

		code.add(new VarInsnNode(Opcodes.ALOAD, own));
		code.add(new VarInsnNode(Opcodes.ALOAD, local));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, THREAD, "cct$node", NODE));
		return code;
	}

	/** The types of a stack map frame, behind the method's own, which may be fewer than its places. */
	private static List<Object> withOwn(List<Object> locals, int own) {
		List<Object> ret = new ArrayList<>(locals);
		int places = 0;

		for (Object type : locals)
			places += type == Opcodes.LONG || type == Opcodes.DOUBLE ? 2 : 1;
		for (; places < own; places++)
			ret.add(Opcodes.TOP);
		ret.addAll(List.of(THREAD, TREE, TREE));
		return ret;
	}

	/** Around all but what is before a constructor's call of another; and the method's own handlers. */
	private static void addCatchAll(ClassNode owner, MethodNode method, AbstractInsnNode superCall, int own) {
		LabelNode start = new LabelNode(), end = new LabelNode(), handler = new LabelNode();
		InsnList code = new InsnList();

		restoreInHandlers(method, own);
		if (superCall != null)
			method.instructions.insert(superCall, start);
		else
			method.instructions.insert(start);
		code.add(end);
		code.add(handler);
		if ((owner.version & 0xffff) >= Opcodes.V1_6) {
			List<Object> locals = withOwn(List.of(), own);

			code.add(new FrameNode(Opcodes.F_NEW, locals.size(), locals.toArray(), 1, new Object[] {"java/lang/Throwable"}));
		}
		code.add(store(own, own + 1));
		code.add(new InsnNode(Opcodes.ATHROW));
		method.instructions.add(code);
		method.tryCatchBlocks.add(new TryCatchBlockNode(start, end, handler, null));
	}

	private static void restoreInHandlers(MethodNode method, int own) {
		List<LabelNode> done = new ArrayList<>();

		for (TryCatchBlockNode block : method.tryCatchBlocks) {
			AbstractInsnNode first = block.handler;

			if (done.contains(block.handler))
				continue;
			done.add(block.handler);
			while (first.getNext().getOpcode() < 0)
				first = first.getNext();
			method.instructions.insert(first, store(own, own + 2));
		}
	}

	private InsnList prologue(int own) {
		InsnList code = new InsnList();

		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, THREAD, "currentThread", "()Ljava/lang/Thread;", false));
		code.add(new InsnNode(Opcodes.DUP));
		code.add(new VarInsnNode(Opcodes.ASTORE, own));
		code.add(new FieldInsnNode(Opcodes.GETFIELD, THREAD, "cct$node", NODE));
		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, TREE, "orRoot", "(" + NODE + ")" + NODE, false));
		code.add(new InsnNode(Opcodes.DUP));
		code.add(new VarInsnNode(Opcodes.ASTORE, own + 1));
		code.add(new LdcInsnNode(methods.getAndIncrement()));
		code.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, TREE, "enter", "(I)" + NODE, false));
		code.add(new VarInsnNode(Opcodes.ASTORE, own + 2));
		code.add(store(own, own + 2));
		return code;
	}
}
