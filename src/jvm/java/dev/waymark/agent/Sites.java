package dev.waymark.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Which instructions of a method are sites: those during which other code of the application can run. These are calls, and what may
 * initialise a class. A loader of the application itself can be called wherever a name is resolved.
 */
final class Sites {
	/** enum wmk_site_kind. */
	static final int NONE = -1;
	static final int INDIRECT = 3;
	static final int FOREIGN = 4;
	static final int CAPTURE = 6;
	/** With a kind: events happen there in the method itself. JVM_SITE_PLACE of c/classes/template.h. */
	private static final int PLACE = 16;

	private static final String API = "dev/waymark/Waymark";
	private static final Set<String> CAPTURES = Set.of("capture", "token", "event", "task", "beginTask");

	private final ClassContext owner;

	Sites(ClassContext owner) {
		this.owner = owner;
	}

	static boolean isCall(AbstractInsnNode insn) {
		return insn instanceof MethodInsnNode || insn instanceof InvokeDynamicInsnNode;
	}

	/** NONE, or the site's kind. */
	int kind(AbstractInsnNode insn) {
		int kind = ownKind(insn);

		return Clients.areOn() && kind != NONE && !isCall(insn) ? asPlace(kind) : kind;
	}

	private int ownKind(AbstractInsnNode insn) {
		switch (insn.getOpcode()) {
		case Opcodes.INVOKESTATIC:
		case Opcodes.INVOKESPECIAL:
		case Opcodes.INVOKEVIRTUAL:
		case Opcodes.INVOKEINTERFACE:
			return callKind((MethodInsnNode) insn);
		case Opcodes.INVOKEDYNAMIC:
			return INDIRECT;
		case Opcodes.GETSTATIC:
		case Opcodes.PUTSTATIC:
			return isOwnField((FieldInsnNode) insn) ? NONE : initialisation(((FieldInsnNode) insn).owner);
		case Opcodes.NEW:
			return Clients.allocation(initialisation(((TypeInsnNode) insn).desc));
		case Opcodes.NEWARRAY:
			return Clients.allocation(NONE);
		case Opcodes.MONITORENTER:
			return Clients.locking();
		case Opcodes.LDC:
			return constantKind(((LdcInsnNode) insn).cst);
		case Opcodes.ATHROW: /* the virtual machine looks for types of handlers */
			return Clients.throwing(owner.isQuietlyResolved ? NONE : INDIRECT);
		case Opcodes.GETFIELD:
		case Opcodes.PUTFIELD:
			return resolution(((FieldInsnNode) insn).owner);
		case Opcodes.CHECKCAST:
		case Opcodes.INSTANCEOF:
			return resolution(((TypeInsnNode) insn).desc);
		case Opcodes.ANEWARRAY:
			return Clients.allocation(resolution(((TypeInsnNode) insn).desc));
		case Opcodes.MULTIANEWARRAY:
			return Clients.allocation(resolution(((MultiANewArrayInsnNode) insn).desc));
		default:
			return NONE;
		}
	}

	/** The kind of a site which is a place of events, too. kind: what it is otherwise, if anything. */
	static int asPlace(int kind) {
		return (kind == NONE ? INDIRECT : kind) | PLACE;
	}

	boolean areIn(MethodNode method) {
		for (AbstractInsnNode insn : method.instructions)
			if (kind(insn) != NONE)
				return true;
		return false;
	}

	/** The sites of a method, in order. */
	List<AbstractInsnNode> of(MethodNode method) {
		List<AbstractInsnNode> ret = new ArrayList<>();

		for (AbstractInsnNode insn : method.instructions)
			if (kind(insn) != NONE)
				ret.add(insn);
		return ret;
	}

	/** The method that the instruction names: the declared one, which may be overridden. null: it names none. */
	static String callee(AbstractInsnNode insn) {
		switch (insn.getOpcode()) {
		case Opcodes.INVOKEDYNAMIC:
			Handle bootstrap = ((InvokeDynamicInsnNode) insn).bsm;

			return method(bootstrap.getOwner(), bootstrap.getName());
		case Opcodes.NEW:
			return method(((TypeInsnNode) insn).desc, "<clinit>");
		case Opcodes.GETSTATIC:
		case Opcodes.PUTSTATIC:
			return method(((FieldInsnNode) insn).owner, "<clinit>");
		default:
			return insn instanceof MethodInsnNode ? method(((MethodInsnNode) insn).owner, ((MethodInsnNode) insn).name) : null;
		}
	}

	private static String method(String owner, String name) {
		return owner.replace('/', '.') + '.' + name;
	}

	/** The space of the methods that a call enters by its name. */
	static Spaces.Call call(AbstractInsnNode insn, boolean isSuperCall) {
		if (!(insn instanceof MethodInsnNode))
			return Spaces.Call.UNKNOWN;
		MethodInsnNode call = (MethodInsnNode) insn;

		if (isSuperCall)
			return Spaces.Call.ofSuper(call.owner, call.desc);
		if (call.owner.equals(API))
			return Spaces.Call.UNKNOWN;
		boolean isOwned = call.getOpcode() == Opcodes.INVOKESTATIC || call.name.equals("<init>");

		if (!isJdk(call.owner))
			return Spaces.Call.of(isOwned ? Spaces.ofOwned(call.owner, call.name, call.desc) : Spaces.ofMethods(call.name + call.desc));
		return isOwned || call.getOpcode() == Opcodes.INVOKESPECIAL ? Spaces.Call.UNKNOWN
				: Spaces.Call.ofOverrides(call.owner, call.name + call.desc);
	}

	/**
	 * Methods of the JDK that are not instrumented. Packages java.* are the JDK's alone. A virtual call of their methods may be of an
	 * override, which is the application's.
	 */
	private static boolean isJdk(String name) {
		return name.startsWith("java/") && !Filter.isWantedOfJdk(name.replace('/', '.'));
	}

	private int callKind(MethodInsnNode call) {
		if (call.owner.equals(API) && CAPTURES.contains(call.name))
			return CAPTURE;
		if (!Clients.areOn() && (owner.isLeaf(call) || (owner.isQuietlyResolved && Quiet.isQuiet(call))))
			return NONE;
		if (call.getOpcode() != Opcodes.INVOKESTATIC && call.getOpcode() != Opcodes.INVOKESPECIAL)
			return INDIRECT;
		return isJdk(call.owner) ? FOREIGN : INDIRECT;
	}

	private boolean isOwnField(FieldInsnNode access) {
		if (!access.owner.equals(owner.node.name))
			return false;
		for (FieldNode field : owner.node.fields)
			if (field.name.equals(access.name) && field.desc.equals(access.desc))
				return true;
		return false;
	}

	private int initialisation(String name) {
		return owner.isQuietlyResolved && !Filter.hasJdk() && Quiet.isQuietlyInitialised(name) ? NONE : INDIRECT;
	}

	/** name: of a class or an array. */
	private int resolution(String name) {
		return owner.isQuietlyResolved || name.equals(owner.node.name) ? NONE : INDIRECT;
	}

	private int constantKind(Object constant) {
		if (constant instanceof Number || constant instanceof String)
			return NONE;
		if (constant instanceof Type && ((Type) constant).getSort() != Type.METHOD)
			return resolution(((Type) constant).getInternalName());
		return INDIRECT;
	}
}
