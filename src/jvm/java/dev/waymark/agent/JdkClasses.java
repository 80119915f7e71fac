package dev.waymark.agent;

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Classes of the JDK that change in any case, so that they tell the agent what happens. c/classes/hook.c has their names, too. Any thread. */
final class JdkClasses {
	/** The class of java.lang.instrument that hands classes to other agents. */
	static final String INSTRUMENTATION = "sun/instrument/InstrumentationImpl";
	private static final String VIRTUAL_THREAD = "java/lang/VirtualThread";

	private JdkClasses() {
	}

	/** null: there is nothing to add to that class. */
	static byte[] change(String name, byte[] bytes) {
		ClassNode node = ClassFiles.node(ClassFiles.reader(bytes), bytes, 0);
		ClassWriter writer = new ClassWriter(0);
		boolean isChanged = false;

		if (name.equals(INSTRUMENTATION))
			OtherAgents.come();
		for (MethodNode method : node.methods)
			isChanged |= name.equals(INSTRUMENTATION) ? tellTransformers(method) : name.equals(VIRTUAL_THREAD) && tellStart(method);
		if (!isChanged)
			return null;
		node.accept(writer);
		return writer.toByteArray();
	}

	/** Behind the addition of a transformer. */
	private static boolean tellTransformers(MethodNode method) {
		if (!method.name.equals("addTransformer"))
			return false;
		for (AbstractInsnNode insn : method.instructions.toArray())
			if (insn.getOpcode() == Opcodes.RETURN)
				method.instructions.insertBefore(insn, new MethodInsnNode(Opcodes.INVOKESTATIC, "dev/waymark/agent/OtherAgents",
						"addedTransformer", "()V", false));
		return true;
	}

	/** Other threads are started by a native method (c/bridge/thread_start.c). */
	private static boolean tellStart(MethodNode method) {
		InsnList code = new InsnList();

		if (!method.name.equals("start") || !method.desc.equals("(Ljdk/internal/vm/ThreadContainer;)V"))
			return false;
		code.add(new VarInsnNode(Opcodes.ALOAD, 0));
		code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, "dev/waymark/agent/ThreadContexts", "starts", "(Ljava/lang/Thread;)V", false));
		method.instructions.insert(code);
		method.maxStack = Math.max(method.maxStack, 1);
		return true;
	}
}
