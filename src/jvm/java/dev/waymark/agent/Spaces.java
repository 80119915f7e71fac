package dev.waymark.agent;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The space of codes (core/contexts/sitecode.h) of a method, and of the calls that name it. Whatever a call enters by the name that it
 * has is in its space: methods that override each other have one name and descriptor, so all methods with these have one space. A
 * constructor or a static method is entered by the name of its class alone (or of a subclass: then it pushes). The body of a lambda is
 * entered by the name of the interface's method.
 *
 * <p>No method has the space of a constructor: it could be entered over a call that is not in progress any more (SuperCalls), and take it
 * for its own. Any thread.
 */
final class Spaces {
	/** Functions' spaces are 1 to this. JVM_FUNCTION_SPACES. */
	private static final int LAST = (1 << 64 - Word.PAYLOAD_BITS) / 4 * 3;

	/** Constructors have the first ones, methods the last ones; they are shared when there are no others. */
	private static int constructors;
	private static int methods;
	private static int moreConstructors;
	private static int moreMethods;

	private static final Map<String, Integer> KNOWN = new HashMap<>();
	/** Names and descriptors of instrumented methods. */
	private static final Set<String> METHODS = ConcurrentHashMap.newKeySet();
	private static final Set<String> CALLBACKS = Set.of("java/lang/Comparable", "java/lang/Iterable", "java/lang/Runnable",
			"java/util/Comparator", "java/util/Iterator", "java/util/concurrent/Callable");

	private Spaces() {
	}

	/** Of methods that objects have, by a name and a descriptor. */
	static int ofMethods(String nameAndDescriptor) {
		METHODS.add(nameAndDescriptor);
		return of(nameAndDescriptor);
	}

	/** For a call by a name of the JDK's: that of the application's methods which have it; 0: none is known by now. */
	static int ofOverrides(String owner, String nameAndDescriptor) {
		boolean isKnown = isForApplications(owner) || METHODS.contains(nameAndDescriptor);

		return isKnown ? of(nameAndDescriptor) : 0;
	}

	/** Interfaces of the JDK that applications implement: calls are seen before a class that does may be loaded. */
	private static boolean isForApplications(String owner) {
		return owner.startsWith("java/util/function/") || CALLBACKS.contains(owner);
	}

	/** A static method or a constructor. */
	static int ofOwned(String owner, String name, String descriptor) {
		return of(owner + '.' + name + descriptor);
	}

	private static synchronized int of(String key) {
		Integer known = KNOWN.get(key);

		if (known == null) {
			known = key.contains("<init>") ? addConstructor() : addMethod();
			Recorder.nameSpace(known, key);
			KNOWN.put(key, known);
		}
		return known;
	}

	private static int addConstructor() {
		if (constructors + methods < LAST)
			return ++constructors;
		return 1 + moreConstructors++ % constructors;
	}

	private static int addMethod() {
		if (constructors + methods < LAST)
			return LAST - methods++;
		return LAST - moreMethods++ % methods;
	}
}
