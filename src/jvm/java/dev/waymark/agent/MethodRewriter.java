package dev.waymark.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Makes one method keep its thread's context: at its entry, before each site, before each return, and in a catch-all around everything
 * there is code of the encoder.
 *
 * Each frame says what its context is anew before each call. So a frame that was left by an exception leaves nothing behind that its
 * caller would see, and the restored word is for foreign code, which calls again without storing one.
 * Only classes of java.base are named, which every module and every loader can see.
 *
 * The stack map frames of the method get the locals. A constructor has two catch-alls, since its own object has another type before
 * the constructor of the superclass was called, and none around that call: the verifier compares a handler with the types before and
 * behind each instruction (SuperCalls has what that takes).
 *
 * <p>A method without sites stays as it is: nothing can be captured while it is innermost.
 */
final class MethodRewriter {
	private static final String ORACLE = "dev/waymark/agent/Oracle";
	/** Where a method is left by an exception: the context is its caller's, while the virtual machine looks for who catches it. */
	private static final int NO_LINE = 0;

	private final ClassContext owner;
	private final MethodNode method;
	private final Sites sites;
	private final Places places;
	/** The first local behind those of the method. */
	private final int own;
	private final boolean hasFrames;
	/** Labels of objects that are not initialised yet, in stack map frames: each names its NEW instruction. */
	private final Map<LabelNode, LabelNode> moved = new HashMap<>();
	private final LabelNode body = new LabelNode();
	private final LabelNode end = new LabelNode();
	/** Set when the method is in the template. */
	private Encoder encoder;
	/** Places that clients need, by line: sites that call nothing. */
	private final Map<Integer, Integer> placeOfLine = new HashMap<>();
	/** The place at the method's entry that clients need. */
	private int entrySite;

	MethodRewriter(ClassContext owner, MethodNode method) {
		this.owner = owner;
		this.method = method;
		this.sites = new Sites(owner);
		this.places = new Places(method);
		this.own = method.maxLocals;
		this.hasFrames = (owner.node.version & 0xffff) >= Opcodes.V1_6;
	}

	/** False: the method stays as it is. */
	boolean rewrite() {
		AbstractInsnNode superCall = isConstructor() ? superCall() : null;
		List<AbstractInsnNode> found = found(superCall);

		if ((found.isEmpty() && !Clients.areOn()) || (isConstructor() && superCall == null))
			return false;
		LineNumbers.separate(method);
		addSites(found, superCall);
		addExits();
		patchFrames();
		addCatchAlls(superCall);
		method.instructions.insert(prologue());
		method.maxLocals += encoder.localsSize();
		method.maxStack = Math.max(method.maxStack, 1) + encoder.stack(); /* what a catch-all has caught */
		if (isConstructor())
			owner.template.addUndoing(SuperCalls.name(owner.node.name, method.desc));
		return true;
	}

	/**
	 * The sites. A call of another constructor that calls nothing is one behind another site: an exception that leaves it must not leave that
	 * one behind.
	 */
	private List<AbstractInsnNode> found(AbstractInsnNode superCall) {
		List<AbstractInsnNode> ret = sites.of(method);
		int before = 0;

		if (superCall == null || ret.contains(superCall))
			return ret;
		while (before < ret.size() && method.instructions.indexOf(ret.get(before)) < method.instructions.indexOf(superCall))
			before++;
		if (before > 0)
			ret.add(before, superCall);
		return ret;
	}

	/**
	 * A security manager, and transformers of Java agents that came when classes were there: the virtual machine calls them wherever a name
	 * is resolved, also where there is no site.
	 */
	private boolean isCalledByResolution() {
		return (!OtherAgents.areSeen() && method.desc.endsWith(
				"Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[B)[B"))
				|| (method.name.equals("checkPackageAccess") && method.desc.equals("(Ljava/lang/String;)V"));
	}

	private boolean isConstructor() {
		return method.name.equals("<init>");
	}

	/**
	 * The call of another constructor for the same object: the first one that no NEW before it accounts for. null: there is none.
	 * Compilers put a NEW before its constructor's call, also in arguments.
	 */
	private AbstractInsnNode superCall() {
		int news = 0;

		for (AbstractInsnNode insn : method.instructions) {
			if (insn.getOpcode() == Opcodes.NEW)
				news++;
			if (insn.getOpcode() == Opcodes.INVOKESPECIAL && ((MethodInsnNode) insn).name.equals("<init>") && news-- == 0)
				return insn;
		}
		return null;
	}

	/* ---- sites ---- */

	private int firstLine() {
		for (AbstractInsnNode insn : method.instructions)
			if (insn instanceof LineNumberNode)
				return ((LineNumberNode) insn).line;
		return 0;
	}

	/** The tree's instructions are in the order of the bytecode: the last line number before one is its own. */
	private void addSites(List<AbstractInsnNode> found, AbstractInsnNode superCall) {
		int firstLine = firstLine();
		int[] offsets = owner.offsets.of(method.name, method.desc);
		int line = 0, index = 0, next = 0;
		boolean isKnown = !isCalledByResolution();

		encoder = Encoder.of(own, owner.template.addMethod(method, owner.space(method), firstLine, isKnown), isKnown);
		if (Clients.areOn())
			entrySite = place(0, firstLine);
		for (AbstractInsnNode insn : method.instructions.toArray()) {
			if (insn instanceof LineNumberNode)
				line = ((LineNumberNode) insn).line;
			if (next < found.size() && insn == found.get(next)) {
				next++;
				addSite(insn, offsets[index], line, insn == superCall);
				if (places.isCall(insn))
					addPlaceBefore(insn.getNext(), offsets[index], line);
			} else if (places.isHandler(insn)) {
				addPlaceBefore(insn, offsets[index], line);
			}
			if (places.isPassing(insn) && Clients.haveExceptions())
				method.instructions.insertBefore(insn, passOn());
			if (insn.getOpcode() >= 0)
				index++;
		}
	}

	private void addSite(AbstractInsnNode insn, int position, int line, boolean isSuperCall) {
		int kind = Math.max(sites.kind(insn), Sites.INDIRECT);
		int site = owner.template.addSite(kind, position, line, kind == Sites.CAPTURE ? null : Sites.callee(insn), Sites.call(insn, isSuperCall));
		LabelNode label = insn.getOpcode() == Opcodes.NEW ? moveLabels(insn) : null;
		method.instructions.insertBefore(insn, encoder.store(site));
		if (label != null)
			method.instructions.insertBefore(insn, label);
	}

	/** A site that calls nothing, one for each line. */
	private int place(int position, int line) {
		return placeOfLine.computeIfAbsent(line,
				added -> owner.template.addSite(Sites.asPlace(Sites.NONE), position, added, null, Spaces.Call.UNKNOWN));
	}

	private void addPlaceBefore(AbstractInsnNode insn, int position, int line) {
		method.instructions.insertBefore(insn, encoder.store(place(position, line)));
	}

	/** The site's code will be between the labels before the instruction and the instruction, which gets the one that is returned. */
	private LabelNode moveLabels(AbstractInsnNode insn) {
		LabelNode label = new LabelNode();

		for (AbstractInsnNode before = insn.getPrevious(); before != null && before.getOpcode() < 0; before = before.getPrevious())
			if (before instanceof LabelNode)
				moved.put((LabelNode) before, label);
		return label;
	}

	/* ---- exits ---- */

	private void addExits() {
		for (AbstractInsnNode insn : method.instructions.toArray())
			if (insn.getOpcode() >= Opcodes.IRETURN && insn.getOpcode() <= Opcodes.RETURN)
				method.instructions.insertBefore(insn, encoder.restore());
	}

	private void addCatchAlls(AbstractInsnNode superCall) {
		LabelNode start = body;

		method.instructions.add(end);
		if (superCall != null) {
			LabelNode call = new LabelNode(), behind = new LabelNode();

			method.instructions.insertBefore(superCall, call);
			method.instructions.insert(superCall, behind);
			addCatchAll(start, call, Opcodes.UNINITIALIZED_THIS);
			start = behind;
		}
		addCatchAll(start, end, Opcodes.TOP);
	}

	/** Before what has been caught is thrown on: for the virtual machine it is thrown anew. */
	private InsnList passOn() {
		InsnList code = new InsnList();

		code.add(new InsnNode(Opcodes.DUP));
		code.add(new VarInsnNode(Opcodes.ALOAD, own));
		code.add(new InsnNode(Opcodes.SWAP));
		code.add(new FieldInsnNode(Opcodes.PUTFIELD, Encoder.THREAD, "waymark$thrown", "Ljava/lang/Throwable;"));
		return code;
	}

	/** first: the type of local 0 in all of the range. */
	private void addCatchAll(LabelNode from, LabelNode to, Object first) {
		LabelNode handler = new LabelNode();
		List<Object> locals = new ArrayList<>();

		locals.add(first);
		method.instructions.add(handler);
		addFrame(method.instructions, own > 0 ? locals : new ArrayList<>(), List.of("java/lang/Throwable"));
		if (Clients.areOn())
			method.instructions.add(new LineNumberNode(NO_LINE, handler));
		method.instructions.add(encoder.restore());
		if (isConstructor()) {
			method.instructions.add(new LdcInsnNode(Encoder.LEAVE));
			method.instructions.add(new MethodInsnNode(Opcodes.INVOKESTATIC, Encoder.THREAD, Encoder.ENTER, "(J)J", false));
			method.instructions.add(new InsnNode(Opcodes.POP2));
		}
		if (Clients.haveExceptions())
			method.instructions.add(passOn());
		method.instructions.add(new InsnNode(Opcodes.ATHROW));
		method.tryCatchBlocks.add(new TryCatchBlockNode(from, to, handler, null));
	}

	/* ---- stack map frames ---- */

	/** A type of a frame; that of an object that is not initialised yet is its NEW instruction's label. */
	private Object atNew(Object type) {
		return type instanceof LabelNode ? moved.getOrDefault(type, (LabelNode) type) : type;
	}

	/** Behind the method's own locals, which may be fewer than its places. */
	private List<Object> withOwn(List<Object> locals) {
		List<Object> ret = new ArrayList<>();
		int places = 0;

		for (Object type : locals) {
			ret.add(atNew(type));
			places += type == Opcodes.LONG || type == Opcodes.DOUBLE ? 2 : 1;
		}
		for (; places < own; places++)
			ret.add(Opcodes.TOP);
		ret.addAll(encoder.locals());
		return ret;
	}

	private void patchFrames() {
		for (AbstractInsnNode insn : method.instructions) {
			if (!(insn instanceof FrameNode))
				continue;
			FrameNode frame = (FrameNode) insn;
			frame.local = withOwn(frame.local);
			for (int i = 0; i < frame.stack.size(); i++)
				frame.stack.set(i, atNew(frame.stack.get(i)));
		}
	}

	private void addFrame(InsnList code, List<Object> locals, List<Object> stack) {
		if (!hasFrames)
			return;
		List<Object> all = withOwn(locals);

		code.add(new FrameNode(Opcodes.F_NEW, all.size(), all.toArray(), stack.size(), stack.toArray()));
	}

	private static Object typeOf(Type type) {
		switch (type.getSort()) {
		case Type.BOOLEAN:
		case Type.BYTE:
		case Type.CHAR:
		case Type.SHORT:
		case Type.INT:
			return Opcodes.INTEGER;
		case Type.FLOAT:
			return Opcodes.FLOAT;
		case Type.LONG:
			return Opcodes.LONG;
		case Type.DOUBLE:
			return Opcodes.DOUBLE;
		default:
			return type.getInternalName();
		}
	}

	/** The types of the locals when the method is entered. */
	private List<Object> parameters() {
		List<Object> ret = new ArrayList<>();

		if ((method.access & Opcodes.ACC_STATIC) == 0)
			ret.add(isConstructor() ? Opcodes.UNINITIALIZED_THIS : owner.node.name);
		for (Type type : Type.getArgumentTypes(method.desc))
			ret.add(typeOf(type));
		return ret;
	}

	/* ---- entry ---- */

	private InsnList prologue() {
		InsnList code = encoder.entry(body);

		addFrame(code, parameters(), List.of());
		code.add(new InsnNode(Opcodes.NOP)); /* the first instruction may have a frame of its own */
		if (Oracle.seesEntries())
			code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, ORACLE, "entry", "()V", false));
		if (Clients.areOn())
			code.add(encoder.store(entrySite));
		return code;
	}
}
