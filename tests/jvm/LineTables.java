import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * LineTables CLASS-FILE - writes the class Tables, whose tables of line numbers are such as javac never makes, but compilers of other
 * languages do: several lines at one place, in any order, none. Its run() calls each of its methods, which call Lines.point().
 */
final class LineTables {
	private final ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
	private final MethodVisitor all;
	private MethodVisitor method;

	private LineTables() {
		writer.visit(Opcodes.V11, Opcodes.ACC_PUBLIC, "Tables", null, "java/lang/Object", new String[] {"java/lang/Runnable"});
		writer.visitSource("Tables.java", null);
		begin(Opcodes.ACC_PUBLIC, "<init>");
		method.visitVarInsn(Opcodes.ALOAD, 0);
		method.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
		end();
		begin(Opcodes.ACC_PUBLIC, "run");
		all = method;
	}

	private void begin(int access, String name) {
		method = writer.visitMethod(access, name, "()V", null, null);
		method.visitCode();
	}

	/** run() has no lines: a walk must ask for them otherwise than StackWalker does. */
	private void beginStatic(String name) {
		all.visitMethodInsn(Opcodes.INVOKESTATIC, "Tables", name, "()V", false);
		begin(Opcodes.ACC_STATIC, name);
	}

	private void end() {
		method.visitInsn(Opcodes.RETURN);
		method.visitMaxs(0, 0);
		method.visitEnd();
	}

	private Label place() {
		Label ret = new Label();

		method.visitLabel(ret);
		return ret;
	}

	private void lines(Label at, int... lines) {
		for (int line : lines)
			method.visitLineNumber(line, at);
	}

	private void call() {
		method.visitMethodInsn(Opcodes.INVOKESTATIC, "Lines", "point", "()V", false);
	}

	private void other() {
		method.visitInsn(Opcodes.ICONST_0);
		method.visitInsn(Opcodes.POP);
	}

	private byte[] write() {
		beginStatic("severalBefore");
		lines(place(), 7, 8, 9);
		other();
		call();
		end();

		beginStatic("severalAt");
		lines(place(), 20, 21, 22);
		call();
		call();
		lines(place(), 23, 24);
		call();
		lines(place(), 25);
		call();
		end();

		beginStatic("severalAtABranch");
		method.visitInsn(Opcodes.ICONST_1);
		Label behind = new Label();
		method.visitJumpInsn(Opcodes.IFEQ, behind);
		lines(place(), 30);
		call();
		method.visitLabel(behind);
		method.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
		lines(behind, 31, 32);
		call();
		call();
		end();

		beginStatic("inAnyOrder");
		Label first = place();
		other();
		call();
		Label second = place();
		other();
		call();
		Label third = place();
		call();
		call();
		lines(third, 43);
		lines(first, 41, 44);
		lines(second, 42);
		lines(third, 45);
		lines(second, 46);
		end();

		beginStatic("late");
		call();
		lines(place(), 50);
		call();
		end();

		beginStatic("none");
		call();
		end();

		method = all;
		end();
		writer.visitEnd();
		return writer.toByteArray();
	}

	public static void main(String[] arguments) throws IOException {
		Files.write(Path.of(arguments[0]), new LineTables().write());
	}
}
