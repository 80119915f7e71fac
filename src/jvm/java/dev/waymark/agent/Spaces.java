package dev.waymark.agent;

import java.util.Set;

/**
 * The names of the spaces of codes (core/contexts/sitecode.h): of a method, and of the calls that name it. Whatever a call enters by the name
 * that it has is in its space: methods that override each other have one name and descriptor, so all methods with these have one space. A
 * constructor or a static method is entered by the name of its class alone (or of a subclass: then it pushes). The body of a lambda is
 * entered by the name of the interface's method.
 */
final class Spaces {
	/** The space of a call, as far as it is known. */
	static final class Call {
		/** enum jvm_template_space of c/classes/template.h. */
		private static final int NONE = 0;
		private static final int NAMED = 1;
		private static final int IF_KNOWN = 2;
		private static final int CONSTRUCTOR = 3;

		static final Call UNKNOWN = new Call(NONE, null, null);

		final int kind;
		final String name;
		/** The constructor that it calls, as SuperCalls names it; null: it is no super call. */
		final String constructor;

		private Call(int kind, String name, String constructor) {
			this.kind = kind;
			this.name = name;
			this.constructor = constructor;
		}

		/** A call that enters methods of the space. */
		static Call of(String space) {
			return new Call(NAMED, space, null);
		}

		/** A call by a name of the JDK's, which enters the application's methods if there are any. */
		static Call ofOverrides(String owner, String nameAndDescriptor) {
			return new Call(isForApplications(owner) ? NAMED : IF_KNOWN, nameAndDescriptor, null);
		}

		/** A call of the constructor of a superclass. */
		static Call ofSuper(String owner, String descriptor) {
			return new Call(CONSTRUCTOR, ofOwned(owner, "<init>", descriptor), SuperCalls.name(owner, descriptor));
		}
	}

	private static final Set<String> CALLBACKS = Set.of("java/lang/Comparable", "java/lang/Iterable", "java/lang/Runnable",
			"java/util/Comparator", "java/util/Iterator", "java/util/concurrent/Callable");

	private Spaces() {
	}

	/** Interfaces of the JDK that applications implement: calls are seen before a class that does may be loaded. */
	private static boolean isForApplications(String owner) {
		return owner.startsWith("java/util/function/") || CALLBACKS.contains(owner);
	}

	/** The space of methods that objects have. */
	static String ofMethods(String nameAndDescriptor) {
		return nameAndDescriptor;
	}

	/** The space of a static method or a constructor. */
	static String ofOwned(String owner, String name, String descriptor) {
		return owner + '.' + name + descriptor;
	}
}
