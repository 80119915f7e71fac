package dev.waymark.agent;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The space of codes (core/contexts/sitecode.h) of a method, and of the calls that name it. Whatever a call enters by the name that it
 * has is in its space: methods that override each other have one name and descriptor, so all methods with these have one space. A
 * constructor is entered by the name of its class alone. Any thread.
 */
final class Spaces {
	/** Functions' spaces are 1 to this; they are shared when there are more. JVM_FUNCTION_SPACES. */
	private static final int LAST = (1 << 64 - Word.PAYLOAD_BITS) / 4 * 3;

	private static final Map<String, Integer> KNOWN = new HashMap<>();
	/** Names and descriptors of instrumented methods. */
	private static final Set<String> METHODS = new HashSet<>();

	private Spaces() {
	}

	static synchronized int ofMethod(String owner, String name, String descriptor) {
		METHODS.add(name + descriptor);
		return of(owner, name, descriptor);
	}

	/** For a call by a name of the JDK's: that of the application's methods which have it; 0: none is known by now. */
	static synchronized int ofOverrides(String name, String descriptor) {
		return METHODS.contains(name + descriptor) ? of("", name, descriptor) : 0;
	}

	static synchronized int of(String owner, String name, String descriptor) {
		String key = name.equals("<init>") ? owner + descriptor : name + descriptor;

		Integer known = KNOWN.get(key);

		if (known == null)
			KNOWN.put(key, known = KNOWN.size() % LAST + 1);
		return known;
	}
}
