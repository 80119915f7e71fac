package dev.waymark.agent;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** What the rewriters of a class's methods share. One thread. */
final class ClassContext {
	final ClassNode node;
	final CodeOffsets offsets;
	/** Of the application class path: other loaders may be code of the application, which every resolution can call. */
	final boolean hasBuiltinLoader;
	private final String loader;
	private final List<MethodNode> rewritten = new ArrayList<>();
	private int number = -1;

	ClassContext(ClassLoader loader, ClassNode node, CodeOffsets offsets) {
		this.node = node;
		this.offsets = offsets;
		this.hasBuiltinLoader = loader.getClass().getName().startsWith("jdk.internal.loader.");
		this.loader = loader.getName() != null ? loader.getName() : loader.getClass().getName();
	}

	String dottedName() {
		return node.name.replace('/', '.');
	}

	int space(MethodNode method) {
		return Spaces.of(node.name, method.name, method.desc);
	}

	int addMethod(MethodNode method, int line) {
		if (number < 0)
			number = Recorder.addClass(loader, dottedName(), node.sourceFile);
		return number < 0 ? -1 : Recorder.addMethod(number, method.name, method.desc, line, space(method));
	}

	void isRewritten(MethodNode method) {
		rewritten.add(method);
	}

	/** The class will be loaded with the changes. */
	void commit() {
		for (MethodNode method : rewritten)
			Oracle.add(dottedName(), method.name, method.desc);
	}
}
