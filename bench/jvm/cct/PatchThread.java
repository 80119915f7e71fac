import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/** PatchThread FILE - writes this JDK's java.lang.Thread with one field more: the node of the method that the thread runs. */
public final class PatchThread {
	private PatchThread() {
	}

	public static void main(String[] args) throws Exception {
		try (InputStream in = Thread.class.getResourceAsStream("Thread.class")) {
			ClassWriter writer = new ClassWriter(0);

			new ClassReader(in).accept(new ClassVisitor(Opcodes.ASM9, writer) {
				@Override
				public void visitEnd() {
					visitField(Opcodes.ACC_PUBLIC | Opcodes.ACC_TRANSIENT, "cct$node", "Ljava/lang/CallTree;", null, null).visitEnd();
					super.visitEnd();
				}
			}, 0);
			Files.write(Path.of(args[0]), writer.toByteArray());
		}
	}
}
