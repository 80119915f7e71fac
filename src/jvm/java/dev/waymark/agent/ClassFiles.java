package dev.waymark.agent;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;

/** Versions of class files. */
final class ClassFiles {
	/** Java 25. Each version has the format of Java 17. */
	static final int NEWEST = 69;
	private static final int NEWEST_OF_ASM = Opcodes.V20;
	private static final int MAJOR_AT = 6;

	private ClassFiles() {
	}

	static int version(byte[] bytes) {
		return (bytes[MAJOR_AT] & 0xff) << 8 | bytes[MAJOR_AT + 1] & 0xff;
	}

	static boolean isKnown(byte[] bytes) {
		return version(bytes) <= NEWEST;
	}

	/** A reader of a class file whose version is known. ASM refuses versions that came after it, so it sees one of its own. */
	static ClassReader reader(byte[] bytes) {
		if (version(bytes) <= NEWEST_OF_ASM)
			return new ClassReader(bytes);
		byte[] older = bytes.clone();

		older[MAJOR_AT + 1] = NEWEST_OF_ASM;
		return new ClassReader(older);
	}

	/** reader: of the bytes. The node has their version. */
	static ClassNode node(ClassReader reader, byte[] bytes, int flags) {
		ClassNode ret = new ClassNode();

		reader.accept(ret, flags);
		ret.version = ret.version & ~0xffff | version(bytes);
		return ret;
	}
}
