package dev.waymark.agent;

import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.MethodInsnNode;

/**
 * Methods of the JDK that cannot call the application: they are no sites. What is not listed can: nearly everything that is handed an
 * object calls its methods, or looks for a provider.
 */
final class Quiet {
	/** Final classes; their methods that take nothing but primitive values, strings, arrays of primitives and their own class. */
	private static final Set<String> PLAIN = Set.of("java/lang/String", "java/lang/StringBuilder", "java/lang/StringBuffer",
			"java/lang/Character", "java/lang/Integer", "java/lang/Long", "java/lang/Short", "java/lang/Byte", "java/lang/Boolean",
			"java/lang/Float", "java/lang/Double", "java/lang/Math", "java/lang/StrictMath", "java/util/Arrays");
	/** Names of their methods that are not quiet: they ask providers of charsets, a table of properties or a pool, which may be the application's. */
	private static final Set<String> ASKING = Set.of("getBytes", "getInteger", "getLong", "getBoolean", "parallelSort",
			"parallelPrefix");
	/** Final or static methods, whatever they take. */
	private static final Map<String, Set<String>> NAMED = Map.of(
			"java/lang/Object", Set.of("<init>", "getClass", "notify", "notifyAll"),
			"java/lang/Class", Set.of("isInstance", "getName", "getComponentType", "isArray", "isInterface", "getSuperclass"),
			"java/lang/System", Set.of("arraycopy", "nanoTime", "currentTimeMillis", "identityHashCode"),
			"java/lang/Thread", Set.of("currentThread"),
			"java/util/Objects", Set.of("requireNonNull", "isNull", "nonNull"));

	/** Classes of these packages whose initialisers do not look for anything, beside PLAIN, NAMED, exceptions and errors. */
	private static final Set<String> INITIALISED = Set.of("java/util/ArrayList", "java/util/LinkedList", "java/util/Vector",
			"java/util/Stack", "java/util/ArrayDeque", "java/util/HashMap", "java/util/LinkedHashMap", "java/util/TreeMap",
			"java/util/IdentityHashMap", "java/util/WeakHashMap", "java/util/Hashtable", "java/util/HashSet",
			"java/util/LinkedHashSet", "java/util/TreeSet", "java/util/BitSet", "java/util/Collections", "java/util/StringJoiner",
			"java/util/StringTokenizer", "java/util/concurrent/ConcurrentHashMap", "java/util/concurrent/atomic/AtomicInteger",
			"java/util/concurrent/atomic/AtomicLong", "java/util/concurrent/TimeUnit", "java/io/StringReader",
			"java/io/StringWriter", "java/io/ByteArrayInputStream", "java/io/ByteArrayOutputStream", "java/lang/Void");

	/** What also calls nothing else of the JDK. */
	private static final Set<String> CALLING_NOTHING = Set.of("java/lang/Object.<init>", "java/lang/Object.getClass",
			"java/lang/System.arraycopy", "java/lang/System.nanoTime", "java/lang/Thread.currentThread");

	private Quiet() {
	}

	static boolean isQuiet(MethodInsnNode call) {
		if (Filter.hasJdk())
			return CALLING_NOTHING.contains(call.owner + '.' + call.name);
		if (NAMED.getOrDefault(call.owner, Set.of()).contains(call.name))
			return !call.desc.contains("Supplier");
		if (call.getOpcode() == Opcodes.INVOKESPECIAL && call.owner.equals("java/lang/Object"))
			return !call.name.equals("toString");
		return PLAIN.contains(call.owner) && !ASKING.contains(call.name)
				&& (isPlain(call) || (call.name.equals("equals") && call.desc.equals("(Ljava/lang/Object;)Z")));
	}

	/** Does nothing of the application run when the class is initialised? */
	static boolean isQuietlyInitialised(String owner) {
		return PLAIN.contains(owner) || NAMED.containsKey(owner) || INITIALISED.contains(owner)
				|| (owner.startsWith("java/lang/") && (owner.endsWith("Exception") || owner.endsWith("Error")));
	}

	private static boolean isPlain(MethodInsnNode call) {
		if (call.name.equals("<init>") && call.desc.startsWith("([B"))
			return false; /* with the name of a charset */
		for (Type type : Type.getArgumentTypes(call.desc))
			if (!isPlain(type, call.owner))
				return false;
		return true;
	}

	private static boolean isPlain(Type type, String owner) {
		if (type.getSort() == Type.ARRAY)
			return type.getDimensions() == 1 && type.getElementType().getSort() != Type.OBJECT;
		return type.getSort() != Type.OBJECT || type.getInternalName().equals("java/lang/String")
				|| type.getInternalName().equals(owner);
	}
}
