package random;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What a generated program consists of: interfaces, classes, and their methods. Decided before anything is written. */
final class Program {
	/** How a method is declared, beside its own Shadow and int. */
	enum Kind {
		PLAIN, WIDE, VARARGS,
		/** T m(Shadow, int, T) of an interface with a parameter T: a class that implements it has a bridge. */
		GENERIC,
		/** Object m(Shadow, int), overridden with Integer: a bridge, too. */
		COVARIANT
	}

	/** Virtual methods that override each other. */
	static final class Group {
		final String name;
		final Kind kind;

		Group(String name, Kind kind) {
			this.name = name;
			this.kind = kind;
		}
	}

	static final class Static {
		final Type owner;
		final String name;
		final Kind kind;
		/** Restores the depth whatever happens, so that foreign code may catch what it throws. */
		final boolean restores;

		Static(Type owner, String name, Kind kind, boolean restores) {
			this.owner = owner;
			this.name = name;
			this.kind = kind;
			this.restores = restores;
		}
	}

	/** A class or an interface. */
	static final class Type {
		final String name;
		final boolean isInterface;
		boolean isAbstract;
		/** First used in the middle of the run. */
		boolean isLate;
		Type parent;
		final List<Type> interfaces = new ArrayList<>();
		final List<Group> declared = new ArrayList<>();
		/** With a body: declared here or overridden. */
		final Set<Group> bodies = new LinkedHashSet<>();
		final List<Static> statics = new ArrayList<>();

		Type(String name, boolean isInterface) {
			this.name = name;
			this.isInterface = isInterface;
		}

		/** All that objects of it have. */
		Set<Group> groups() {
			Set<Group> ret = new LinkedHashSet<>(declared);

			if (parent != null)
				ret.addAll(parent.groups());
			for (Type each : interfaces)
				ret.addAll(each.groups());
			return ret;
		}

		/** Whether it or one of its superclasses has a body. */
		boolean hasInClass(Group group) {
			return !isInterface && (bodies.contains(group) || (parent != null && parent.hasInClass(group)));
		}

		/** Whether it has a body, also a default one. */
		boolean has(Group group) {
			if (bodies.contains(group) || (parent != null && parent.has(group)))
				return true;
			for (Type each : interfaces)
				if (each.has(group))
					return true;
			return false;
		}

		/** From how many of its direct supertypes it inherits the group. */
		private int sources(Group group) {
			int ret = parent != null && parent.groups().contains(group) ? 1 : 0;

			for (Type each : interfaces)
				if (each.groups().contains(group))
					ret++;
			return ret;
		}

		boolean isA(Type other) {
			if (this == other || (parent != null && parent.isA(other)))
				return true;
			for (Type each : interfaces)
				if (each.isA(other))
					return true;
			return false;
		}

		boolean isGeneric() {
			for (Group each : declared)
				if (each.kind == Kind.GENERIC)
					return true;
			return false;
		}

		/** As a supertype. */
		String asParent() {
			return isGeneric() ? name + "<Integer>" : name;
		}

		/** As it is named in its own head. */
		String asDeclared() {
			return isGeneric() ? name + "<T>" : name;
		}
	}

	final int seed;
	final Dice dice;
	/** Methods have locks, in no order, so threads do not run at a time. */
	final boolean hasLocks;
	final List<Type> interfaces = new ArrayList<>();
	final List<Type> classes = new ArrayList<>();
	final List<Static> statics = new ArrayList<>();

	Program(int seed) {
		this.seed = seed;
		this.dice = new Dice(seed);
		this.hasLocks = dice.oneIn(2);
		int interfaceCount = 1 + dice.roll(5), classCount = 3 + dice.roll(10);

		for (int i = 0; i < interfaceCount; i++)
			interfaces.add(anInterface(i));
		for (int i = 0; i < classCount; i++)
			classes.add(aClass(i));
		for (Type each : classes)
			addStatics(each, 1 + dice.roll(3));
		for (Type each : interfaces)
			addStatics(each, dice.roll(2));
	}

	String packageName() {
		return "p" + seed;
	}

	private Type anInterface(int i) {
		Type ret = new Type("I" + i, true);
		int parents = dice.roll(3);

		for (int k = 0; k < parents && i > 0; k++) {
			Type parent = interfaces.get(dice.roll(i));
			if (!ret.isA(parent))
				ret.interfaces.add(parent);
		}
		for (int k = dice.roll(4) == 0 ? 2 : 1; k > 0; k--)
			declare(ret, "i" + i + "m" + k, dice.of(Kind.PLAIN, Kind.PLAIN, Kind.PLAIN, Kind.WIDE, Kind.VARARGS, Kind.GENERIC));
		for (Group each : ret.groups()) {
			boolean isOwn = ret.declared.contains(each);
			/* One of two defaults has to be chosen. */
			if (isOwn ? dice.oneIn(2) : ret.sources(each) > 1 || dice.oneIn(4))
				ret.bodies.add(each);
		}
		return ret;
	}

	private Type aClass(int i) {
		Type ret = new Type("C" + i, false);
		int parents = dice.roll(3);

		if (i > 0 && !dice.oneIn(3))
			ret.parent = classes.get(dice.roll(i));
		ret.isAbstract = i + 1 < 3 && dice.oneIn(3);
		ret.isLate = i > 1 && !ret.isAbstract && dice.oneIn(4);
		for (int k = 0; k < parents; k++) {
			Type parent = dice.pick(interfaces);
			if (!ret.isA(parent))
				ret.interfaces.add(parent);
		}
		for (int k = dice.roll(3); k > 0; k--)
			declare(ret, "c" + i + "m" + k, dice.of(Kind.PLAIN, Kind.PLAIN, Kind.WIDE, Kind.VARARGS, Kind.COVARIANT));
		for (Group each : ret.groups())
			if (isOverridden(ret, each))
				ret.bodies.add(each);
		return ret;
	}

	private boolean isOverridden(Type type, Group group) {
		if (type.declared.contains(group))
			return !type.isAbstract || dice.oneIn(2);
		if (type.parent != null && type.parent.hasInClass(group))
			return dice.oneIn(2);
		if (type.sources(group) > 1)
			return true;
		if (type.has(group))
			return dice.oneIn(2);
		return !type.isAbstract || dice.oneIn(3);
	}

	/** Methods whose names end so may have a lock, and start no threads. */
	private String lockable() {
		return hasLocks && dice.oneIn(3) ? "Sync" : "";
	}

	private void declare(Type type, String name, Kind kind) {
		type.declared.add(new Group(name + lockable(), kind));
	}

	private void addStatics(Type type, int count) {
		for (int i = 0; i < count; i++) {
			Static method = new Static(type, type.name.toLowerCase() + "s" + "m" + i + lockable(),
					dice.of(Kind.PLAIN, Kind.PLAIN, Kind.PLAIN, Kind.WIDE, Kind.VARARGS), dice.oneIn(3));
			type.statics.add(method);
			statics.add(method);
		}
	}

	/** Classes of which there are objects from the beginning, and which are the type or inherit from it. */
	List<Type> implementers(Type type) {
		List<Type> ret = new ArrayList<>();

		for (Type each : classes)
			if (!each.isAbstract && !each.isLate && each.isA(type))
				ret.add(each);
		return ret;
	}
}
