package dev.waymark.agent;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** State that the rewriters of a class's methods share. One thread. */
final class ClassContext {
	final ClassNode node;
	final CodeOffsets offsets;
	/**
	 * Nothing that is instrumented runs where a name is resolved: not so with a loader of the application, with any loader in Java if the
	 * JDK is instrumented, or where other agents see each class that is loaded.
	 */
	final boolean isQuietlyResolved;
	private final String loader;
	/** Names and descriptors of methods without sites, which no other method can take the place of. */
	private final Set<String> leaves = new HashSet<>();
	/** null: not looked for yet. */
	private Map<String, String> lambdas;
	final Template template = new Template();

	ClassContext(ClassLoader loader, ClassNode node, CodeOffsets offsets) {
		this.node = node;
		this.offsets = offsets;
		this.isQuietlyResolved = !OtherAgents.areThere()
				&& (loader == null || (!Filter.hasJdk() && loader.getClass().getName().startsWith("jdk.internal.loader.")));
		this.loader = loader == null ? "boot" : loader.getName() != null ? loader.getName() : loader.getClass().getName();
		if (loader != null && isQuietlyResolved)
			OtherAgents.classIsLoaded();
		if (!Clients.areOn())
			findLeaves();
	}

	/* ---- leaves ---- */

	private boolean isFixed(MethodNode method) {
		return method.name.equals("<init>") || ((node.access | method.access) & Opcodes.ACC_FINAL) != 0
				|| (method.access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) != 0;
	}

	/** Each one that is found may make its callers leaves. */
	private void findLeaves() {
		Sites sites = new Sites(this);
		boolean isNew = true;

		while (isNew) {
			isNew = false;
			for (MethodNode method : node.methods)
				if (method.instructions.size() != 0 && isFixed(method) && !sites.areIn(method))
					isNew |= leaves.add(method.name + method.desc);
		}
	}

	/** Does the call enter a method of this class that has no site? */
	boolean isLeaf(MethodInsnNode call) {
		return call.owner.equals(node.name) && leaves.contains(call.name + call.desc);
	}

	/* ---- spaces ---- */

	/** By the name and descriptor of a lambda's body: those of the interface's method that calls it. */
	private Map<String, String> findLambdas() {
		Map<String, String> ret = new HashMap<>();

		for (MethodNode method : node.methods)
			for (AbstractInsnNode insn : method.instructions)
				if (insn.getOpcode() == Opcodes.INVOKEDYNAMIC)
					addLambda((InvokeDynamicInsnNode) insn, ret);
		return ret;
	}

	private void addLambda(InvokeDynamicInsnNode insn, Map<String, String> ret) {
		if (!insn.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory"))
			return;
		Handle body = (Handle) insn.bsmArgs[1];

		if (body.getOwner().equals(node.name))
			ret.put(body.getName() + body.getDesc(), insn.name + insn.bsmArgs[0]);
	}

	/** The space of the calls that enter the method by its name. */
	String space(MethodNode method) {
		String name = method.name + method.desc;

		if (method.name.startsWith("lambda$")) {
			if (lambdas == null)
				lambdas = findLambdas();
			if (lambdas.containsKey(name))
				return Spaces.ofMethods(lambdas.get(name));
		}
		return (method.access & Opcodes.ACC_STATIC) != 0 || method.name.equals("<init>")
				? Spaces.ofOwned(node.name, method.name, method.desc)
				: Spaces.ofMethods(name);
	}

	/* ---- methods ---- */

	String dottedName() {
		return node.name.replace('/', '.');
	}

	/** classFile: with the template's constants. isPartial: methods were left out. */
	byte[] toBytes(byte[] classFile, boolean isPartial) {
		return template.toBytes(loader, dottedName(), node.sourceFile, classFile, isPartial);
	}
}
