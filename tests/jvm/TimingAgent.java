import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * An agent as tracers are: each method of the classes Beside* calls Timing when it begins and when it ends. Options: "retransform" for a
 * transformer that can change loaded classes, "plain" for one that cannot; "late" adds it when the program asks for the first change.
 */
public final class TimingAgent implements ClassFileTransformer {
	private static Instrumentation instrumentation;
	private static TimingAgent transformer;
	private static boolean isRetransforming;
	/** Counts the versions of classes: each has other lines. */
	private static int version;

	public static void premain(String options, Instrumentation given) {
		instrumentation = given;
		isRetransforming = !options.startsWith("plain");
		if (!options.endsWith("late"))
			install();
	}

	private static void install() {
		transformer = new TimingAgent();
		instrumentation.addTransformer(transformer, isRetransforming);
	}

	/** The class gets other code, by either way; called by the program in the midst of its methods. */
	public static void change(Class<?> changed) throws Exception {
		version++;
		if (transformer == null)
			install();
		if (isRetransforming && version % 3 != 0) {
			instrumentation.retransformClasses(changed);
			return;
		}
		try (InputStream in = changed.getResourceAsStream(changed.getName() + ".class")) {
			instrumentation.redefineClasses(new ClassDefinition(changed, in.readAllBytes()));
		}
	}

	@Override
	public byte[] transform(ClassLoader loader, String name, Class<?> changed, ProtectionDomain domain, byte[] bytes) {
		if (name == null || !name.startsWith("Beside"))
			return null;
		ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);

		new ClassReader(bytes).accept(new Timed(writer, name), ClassReader.EXPAND_FRAMES);
		return writer.toByteArray();
	}

	private static final class Timed extends ClassVisitor {
		private final String owner;

		Timed(ClassVisitor next, String owner) {
			super(Opcodes.ASM9, next);
			this.owner = owner;
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
			MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);

			return new TimedMethod(next, access, name, descriptor, owner + '.' + name);
		}
	}

	private static final class TimedMethod extends AdviceAdapter {
		private final String timed;

		TimedMethod(MethodVisitor next, int access, String name, String descriptor, String timed) {
			super(Opcodes.ASM9, next, access, name, descriptor);
			this.timed = timed;
		}

		private void call(String helper) {
			push(timed);
			invokeStatic(Type.getObjectType("Timing"), new org.objectweb.asm.commons.Method(helper, "(Ljava/lang/String;)V"));
		}

		@Override
		protected void onMethodEnter() {
			call("begin");
		}

		@Override
		protected void onMethodExit(int opcode) {
			call("end");
		}

		@Override
		public void visitLineNumber(int line, Label start) {
			super.visitLineNumber(line + 1000 * version, start);
		}
	}
}
