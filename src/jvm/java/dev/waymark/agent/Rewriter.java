package dev.waymark.agent;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** Rewrites a class when it is loaded, so that its methods keep their thread's context. The agent calls it, from any thread. */
final class Rewriter {
	/** CONSTANT_Utf8 */
	private static final int UTF8 = 1;

	private static final byte[] UNCHANGED = {};

	private static final Map<ClassLoader, Boolean> KNOWING = new WeakHashMap<>();

	private Rewriter() {
	}

	/**
	 * Before the first class of the application is loaded, in the thread that will run main. every: entries between two comparisons; 0:
	 * captures only. The others: globs (Filter).
	 */
	static void start(boolean isChecked, int every, boolean isLucce, String include, String exclude, String jdk) {
		Encoder.choose(isLucce);
		Filter.choose(include, exclude, jdk);
		ThreadContexts.add(ThreadState.currentThread(), ThreadRoot.PROCESS);
		if (!jdk.isEmpty())
			warmUp();
		if (isChecked)
			Oracle.start(every);
	}

	/**
	 * A template of what the class becomes (Template); UNCHANGED or null: it stays as it is, in each run or in this one. given: its name, with slashes; null if the bytes are to say it.
	 * full: names and descriptors of methods that have no room.
	 */
	static byte[] rewrite(ClassLoader loader, String given, byte[] bytes, String[] full) {
		String name = given != null ? given : "a class";
		ThreadContexts contexts = ThreadContexts.of(ThreadState.currentThread());
		boolean wasAtWork = contexts.isAgentAtWork;

		contexts.isAgentAtWork = true;
		try {
			if (given == null && ClassFiles.isKnown(bytes))
				name = ClassFiles.reader(bytes).getClassName();
			return Filter.isWanted(loader, name) ? rewriteWanted(loader, name, bytes, full) : UNCHANGED;
		} catch (StackOverflowError | RuntimeException | OutOfMemoryError e) {
			Recorder.sayOf(name, "not instrumented: " + e.getClass().getName());
			return null;
		} finally {
			contexts.isAgentAtWork = wasAtWork;
		}
	}

	/** One of JdkClasses. */
	static byte[] changeOfJdk(String name, byte[] bytes) {
		return JdkClasses.change(name, bytes);
	}

	/** The loader of the application, if it is the JDK's own: what templates of its classes say holds in each run. Else null. */
	static ClassLoader plainLoader() {
		ClassLoader loader = ClassLoader.getSystemClassLoader();

		return loader.getClass().getName().startsWith("jdk.internal.loader.") ? loader : null;
	}

	/** Before the first class that is made by a template of another run. */
	static void beginsFromCache(ClassLoader loader) {
		ThreadContexts contexts = ThreadContexts.of(ThreadState.currentThread());
		boolean wasAtWork = contexts.isAgentAtWork;

		OtherAgents.classIsLoaded();
		knowNames(loader);
		contexts.isAgentAtWork = wasAtWork;
	}

	/**
	 * The virtual machine asks a loader for a name once. It would ask a loader of the application for what the rewritten code names in
	 * the middle of that code, where the context is not whole: so it is asked here.
	 */
	private static void knowNames(ClassLoader loader) {
		if (loader == null)
			return;
		synchronized (KNOWING) {
			if (KNOWING.put(loader, true) != null)
				return;
		}
		ThreadContexts contexts = ThreadContexts.of(ThreadState.currentThread());

		contexts.isAgentAtWork = false; /* the loader is not ours */
		try {
			Class.forName("java.lang.Thread", false, loader);
			if (Oracle.seesEntries())
				Class.forName("dev.waymark.agent.Oracle", false, loader);
		} catch (ClassNotFoundException | LinkageError e) {
			throw new IllegalStateException("its loader does not find java.lang.Thread", e);
		} finally {
			contexts.isAgentAtWork = true;
		}
	}

	/** Loads what rewriting needs: classes of the JDK that are loaded while one is rewritten stay as they are. */
	private static void warmUp() {
		try (InputStream in = ClassLoader.getSystemResourceAsStream("java/util/concurrent/ConcurrentHashMap.class")) {
			attempt(null, in.readAllBytes(), new HashSet<>());
		} catch (IOException | RuntimeException e) {
			Recorder.say("classes of the JDK are not instrumented: " + e);
		}
	}

	/** Is it to be rewritten, having been loaded before? */
	static boolean isLoadedWanted(Class<?> loaded) {
		ClassLoader loader = loaded.getClassLoader();

		if (loader == null && loaded.getName().replace('.', '/').equals(JdkClasses.INSTRUMENTATION))
			return true;
		return (loader == null || loader == ClassLoader.getPlatformClassLoader()) && !loaded.isArray() && !loaded.isPrimitive()
				&& !loaded.isHidden() && Filter.isWantedOfJdk(loaded.getName());
	}

	/** Says it once. */
	private static void leaveOut(String name, String method, String why) {
		if (SuperCalls.addLeftOut(name.replace('/', '.') + '.' + method))
			Recorder.sayOf(name + '.' + method.substring(0, method.indexOf('(')), "not instrumented: " + why);
	}

	private static byte[] rewriteWanted(ClassLoader loader, String name, byte[] bytes, String[] full) {
		Set<String> left = new HashSet<>(Arrays.asList(full));

		if (!ClassFiles.isKnown(bytes)) {
			Recorder.sayOf(name, "not instrumented: its class file has version " + ClassFiles.version(bytes)
					+ ", the newest that is known is " + ClassFiles.NEWEST);
			return null;
		}
		for (String method : full)
			leaveOut(name, method, "there is no room for more calls");
		for (;;) {
			try {
				return attempt(loader, bytes, left);
			} catch (LeftOutException e) {
				if (!left.add(e.method))
					throw e;
				leaveOut(name, e.method, e.getMessage());
			}
		}
	}

	/** Methods of the JDK that no stack trace shows. */
	private static boolean isHidden(MethodNode method) {
		if (method.visibleAnnotations == null)
			return false;
		for (AnnotationNode annotation : method.visibleAnnotations)
			if (annotation.desc.equals("Ljdk/internal/vm/annotation/Hidden;"))
				return true;
		return false;
	}

	/** Another agent may define a class by bytes that it has seen behind this one. */
	private static boolean isRewritten(ClassReader reader) {
		for (int i = 1; i < reader.getItemCount(); i++) {
			int at = reader.getItem(i);

			if (at > 0 && reader.readByte(at - 1) == UTF8 && isField(reader, at))
				return true;
		}
		return false;
	}

	/** Is the text the name of the field that all encoders write? */
	private static boolean isField(ClassReader reader, int at) {
		int length = reader.readUnsignedShort(at);

		if (length != Encoder.WORD.length())
			return false;
		for (int i = 0; i < length; i++)
			if (reader.readByte(at + 2 + i) != Encoder.WORD.charAt(i))
				return false;
		return true;
	}

	/** A template. left: names and descriptors of methods that stay as they are. */
	private static byte[] attempt(ClassLoader loader, byte[] bytes, Set<String> left) {
		ClassReader reader = ClassFiles.reader(bytes);
		ClassWriter writer = new ClassWriter(reader, 0);
		ClassNode node;
		ClassContext owner;
		boolean isChanged = false;

		if (isRewritten(reader))
			return null;
		node = ClassFiles.node(reader, bytes, ClassReader.EXPAND_FRAMES);
		knowNames(loader);
		owner = new ClassContext(loader, node, new CodeOffsets(reader));
		for (MethodNode method : node.methods)
			if (method.instructions.size() != 0 && !left.contains(method.name + method.desc) && !isHidden(method))
				isChanged |= new MethodRewriter(owner, method).rewrite();
		if (!isChanged)
			return UNCHANGED;
		return owner.toBytes(write(node, writer), !left.isEmpty());
	}

	private static byte[] write(ClassNode node, ClassWriter writer) {
		try {
			node.accept(writer);
			return writer.toByteArray();
		} catch (MethodTooLargeException e) {
			throw new LeftOutException(e.getMethodName() + e.getDescriptor(), "it would be too large");
		}
	}
}
