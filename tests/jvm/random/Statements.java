package random;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import random.Program.Group;
import random.Program.Kind;
import random.Program.Static;
import random.Program.Type;

/**
 * Writes the statements of bodies. Each is bounded: it costs one of the calls that the thread may still make, and depth has a limit, so
 * every program ends. Whatever is called, the frame's line is said in the line before.
 */
final class Statements {
	private static final String[] CAUGHT = {"Fail", "RuntimeException", "Throwable", "Fail | Error"};
	/** Of classes that every program has (Fixed). */
	private static final String[] FIXED = {
		"new Key(#n).hashCode()", "java.util.Objects.hash(new Key(#n), 5)", "(\"text\" + new Key(#n)).length()",
		"String.valueOf(new Key(2)).length()", "new StringBuilder().append(new Key(1)).length()",
		"new java.util.HashSet<>(java.util.List.of(new Key(1), new Key(2))).size()",
		"new java.util.TreeSet<>(java.util.List.of(new Key(1), new Key(2))).size()",
		"java.util.List.of(new Key(4), new Key(5)).indexOf(new Key(5))", "java.util.List.of(new Key(1)).hashCode()",
		"((Comparable<Object>) (Comparable<?>) new Key(3)).compareTo(new Key(#n))", "new Pair(#n, new Key(1)).hashCode()",
		"new Pair(#n, new Key(1)).toString().length()", "new Pair(1, new Key(1)).equals(new Pair(1, new Key(2))) ? 1 : 0",
		"new Listing().contains(5) ? 1 : 0", "new Listing().hashCode()", "new Listing().iterator().next()",
		"((Sized) new Listing()).size()", "((Sized) new Listing()).indexOf(6)", "Sized.ALL[#s.roll(3)].size()",
		"Sized.ALL[#s.roll(3)].indexOf(6)", "Sized.ALL[#s.roll(3)].twice()",
		"((Adding) new Bag()).addAll(java.util.List.of(1, 2)) ? 1 : 0",
		"new Bag().toString().length()", "new Bag().containsAll(java.util.List.of(1)) ? 1 : 0",
		"((Getting) new Table()).get(new Key(1)) == null ? 0 : 1", "new Table().size()", "new Table().hashCode()",
		"new Recent().putAll(#n)", "new Recent().getOrDefault(1, 2).hashCode()", "new Number7(3).nextInt(5)", "new Bytes().skipped()",
		"new Growing().add(new Key(#n)) ? 1 : 0", "new Growing().addTwo(#n)", "new Lazy().get()", "new Each(2).sum()",
	};

	private final Program program;
	private final Dice dice;
	private int locals;
	final Ways ways;

	private static final class Row {
		final int weight;
		final Consumer<Body> write;

		Row(int weight, Consumer<Body> write) {
			this.weight = weight;
			this.write = write;
		}
	}

	private final List<Row> rows;

	Statements(Program program) {
		this.ways = new Ways(program, this);
		Functions functions = new Functions(program, this, ways);
		this.program = program;
		this.dice = program.dice;
		this.rows = List.of(new Row(10, this::direct), new Row(8, this::point), new Row(2, this::capture), new Row(3, this::loop),
				new Row(6, this::catching), new Row(3, this::throwing), new Row(2, this::finallyBlock), new Row(2, this::resource),
				new Row(2, this::locked), new Row(2, this::textSwitch), new Row(1, this::enumSwitch), new Row(1, this::early),
				new Row(1, this::implicit), new Row(4, this::superCall), new Row(4, this::fixed), new Row(3, this::initialiser),
				new Row(1, this::arrival), new Row(2, ways::made), new Row(4, ways::callback),
				new Row(4, functions::function), new Row(2, functions::localClass), new Row(2, ways::reflection),
				new Row(3, ways::handle), new Row(2, ways::proxy), new Row(1, ways::world), new Row(2, ways::thread),
				new Row(2, ways::executor), new Row(1, ways::worker), new Row(1, ways::hot), new Row(1, ways::deep),
				new Row(1, ways::overflow));
	}

	int total() {
		return rows.stream().mapToInt(row -> row.weight).sum();
	}

	void statement(Body at) {
		if (at.left-- <= 0)
			return;
		int number = dice.roll(total());

		for (Row row : rows) {
			number -= row.weight;
			if (number < 0) {
				row.write.accept(at);
				return;
			}
		}
	}

	void statements(Body at, int count) {
		for (int i = 0; i < count; i++)
			statement(at);
	}

	String local(String name) {
		return name + locals++;
	}

	/** One of a type's methods that have no other parameters. null: not found. */
	Group plainGroup(Type type) {
		return dice.pick(type.groups().stream().filter(each -> each.kind == Kind.PLAIN).collect(Collectors.toList()));
	}

	/* ---- expressions ---- */

	/** True in one of so many, decided when the program runs, with or without a call. */
	String chance(int sides) {
		if (dice.oneIn(2))
			return "#s.roll(" + sides + ") == 0";
		return "((#s.dice = #s.dice * 6364136223846793005L + 1442695040888963407L) >>> 33) % " + sides + " == 0";
	}

	void ifMayCall(Body at) {
		if (dice.oneIn(2))
			at.put("if (#s.calls-- > 0 && #b < #s.limit) {");
		else
			at.put("if (" + chance(2) + " && #s.calls-- > 0 && #b < #s.limit) {");
	}

	static String arguments(Kind kind, String number) {
		switch (kind) {
		case WIDE:
			return "5L, #s, 1.5, " + number + ", 7L";
		case VARARGS:
			return "#s, " + number + ", \"one\", 2, 3.0";
		case GENERIC:
			return "#s, " + number + ", 7";
		default:
			return "#s, " + number;
		}
	}

	static String cast(Kind kind) {
		return kind == Kind.GENERIC || kind == Kind.COVARIANT ? "(int) (Integer) (Object) " : "";
	}

	private String argument() {
		return dice.of("#n", "#n + 1", "#n - 1", "3");
	}

	/** One of the objects of a type, of any class. null: there is none. */
	String receiver(Type type) {
		int count = program.implementers(type).size();

		if (count == 0)
			return null;
		String name = type.name.toLowerCase();
		/* Casting decides which call it is, not which method. */
		return count > 1 && !dice.oneIn(4) ? "All." + name + "[#s.roll(All." + name + ".length)]" : "All." + name + "[0]";
	}

	String staticCall(Static method, String number) {
		return method.owner.name + '.' + method.name + '(' + arguments(method.kind, number) + ')';
	}

	private String virtualCall(Type type) {
		Group group = dice.pick(List.copyOf(type.groups()));
		String object = receiver(type);

		if (group == null || object == null)
			return null;
		return cast(group.kind) + object + '.' + group.name + '(' + arguments(group.kind, argument()) + ')';
	}

	private String construction() {
		Type type = dice.pick(program.classes);

		return type.isAbstract ? null
				: dice.of("new " + type.name + "(#s, " + argument() + ").value", "new " + type.name + "(#n, #s).value");
	}

	private String inner() {
		Type type = dice.pick(program.classes);
		String object = receiver(type);

		return object == null ? null : object + ".new Inner" + type.name + "().run(#s, " + argument() + ')';
	}

	/** A call of a method of the program. */
	String call() {
		String ret = null;

		switch (dice.roll(8)) {
		case 0:
		case 1:
			ret = virtualCall(dice.pick(program.classes));
			break;
		case 2:
		case 3:
			ret = virtualCall(dice.pick(program.interfaces));
			break;
		case 4:
			ret = construction();
			break;
		case 5:
			ret = inner();
			break;
		default:
			break;
		}
		return ret != null ? ret : staticCall(dice.pick(program.statics), argument());
	}

	/* ---- statements ---- */

	private void direct(Body at) {
		ifMayCall(at);
		at.call("#sum += " + call() + ";");
		if (dice.oneIn(4))
			at.call("#sum += Math.max(" + call() + ", 1);");
		at.put("}");
	}

	void point(Body at) {
		if (dice.oneIn(2)) {
			at.put("if (#s.points-- > 0) {");
			at.call("#s.point(Waymark.token());");
			at.put("}");
		} else {
			at.at();
			at.put("#sum += #s.points-- > 0 ? #s.point(Waymark.token()) : 1;");
		}
	}

	private void capture(Body at) {
		at.call("#s.capture(Waymark.capture());");
	}

	private void loop(Body at) {
		String i = local("i");

		at.put("for (int " + i + " = 0; " + i + " < " + (2 + dice.roll(2)) + " && #s.calls-- > 0 && #b < #s.limit; " + i + "++) {");
		at.call("#sum += " + call() + ";");
		statements(at, dice.roll(2));
		at.put("}");
	}

	private void catching(Body at) {
		ifMayCall(at);
		at.put("try {");
		at.call("#sum += " + call() + ";");
		statements(at, dice.roll(2));
		at.put("} catch (" + dice.of(CAUGHT) + " " + local("thrown") + ") {");
		if (dice.oneIn(2))
			point(at);
		statements(at, dice.roll(2));
		if (dice.oneIn(3))
			at.put("if (#s.loose == 0 && " + chance(3) + ") throw new Fail(#n);");
		at.put("}");
		at.put("}");
	}

	private void throwing(Body at) {
		throwing(at, 4);
	}

	void throwing(Body at, int sides) {
		at.put("if (#s.loose == 0 && " + chance(sides) + ")");
		at.put("\tthrow new Fail(#n);");
	}

	private void finallyBlock(Body at) {
		String early = at.early;

		ifMayCall(at);
		at.put("try {");
		at.call("#sum += " + call() + ";");
		statements(at, dice.roll(2));
		at.put("} finally {");
		point(at);
		at.early = null;
		statements(at, dice.roll(2));
		at.early = early;
		at.put("}");
		at.put("}");
	}

	/** In one line, since nobody says in which one it is closed. */
	private void resource(Body at) {
		ifMayCall(at);
		at.call("try (Resource " + local("held") + " = new Resource(#s, #n)) { #sum += " + call() + "; }");
		at.put("}");
	}

	private void locked(Body at) {
		at.put("synchronized (#s) {");
		direct(at);
		statements(at, 1);
		at.put("}");
	}

	private void textSwitch(Body at) {
		at.call("switch (\"case\" + #s.roll(3)) {");
		at.put("case \"case0\":");
		point(at);
		at.put("case \"case1\":");
		statements(at, 2);
		at.put("break;");
		at.put("default:");
		direct(at);
		at.put("}");
	}

	private void enumSwitch(Body at) {
		String name = local("colour");

		at.put("if (#s.loose + #s.apart == 0 && #s.calls-- > 0 && #b < #s.limit) {");
		/* Before the switch, which has a class of its own to initialise. */
		at.call("final Colour " + name + " = Colour.valueOf(\"RED\").next(#s, #n);");
		at.put("switch (" + name + ") {");
		at.put("case RED:");
		point(at);
		at.put("break;");
		at.put("default:");
		at.call("#sum += Colour.values()[#s.roll(3)].run(#s, #n) + " + call() + ";");
		at.put("}");
		at.put("}");
	}

	private void early(Body at) {
		if (at.early != null)
			at.put("if (" + chance(8) + ") { " + at.early + " }");
	}

	/** Exceptions that the virtual machine throws. */
	private void implicit(Body at) {
		String array = local("array");

		at.put("if (#s.loose == 0 && " + chance(12) + ") {");
		at.put("int[] " + array + " = #n > 2 ? null : new int[1];");
		at.put("#sum += " + dice.of("1 / (#n - #n)", array + "[2 + #n * 0]", array + ".length", "((Integer) (Object) #s.names) + 1") + ";");
		at.put("}");
	}

	private void superCall(Body at) {
		Type type = at.owner;

		if (at.isStatic || type == null || type.isInterface || type.parent == null)
			return;
		for (Group each : type.groups())
			if (type.parent.has(each) && dice.oneIn(2)) {
				ifMayCall(at);
				at.call("#sum += " + cast(each.kind) + "super." + each.name + '(' + arguments(each.kind, argument()) + ");");
				at.put("}");
				return;
			}
	}

	private void fixed(Body at) {
		ifMayCall(at);
		at.call("#sum += " + dice.of(FIXED) + ";");
		at.put("}");
	}

	/** Each once in a program, or in a world of it. */
	private void initialiser(Body at) {
		String name = "K" + dice.roll(FixedText.INITIALISED);

		at.put("if (#s.loose + #s.apart == 0 && #s.calls-- > 0 && #b < #s.limit) {");
		at.call("#sum += " + dice.of(name + ".value", name + ".get(#s, #n)", "new " + name + "().own",
				"new " + name + ".Own().own", name + ".Constants.VALUE", "Fixed.named(Main.class, \"" + name + "\")") + ";");
		at.put("}");
	}

	/** The first object of a class: others of its type are on the stack, perhaps. */
	private void arrival(Body at) {
		Type type = dice.pick(program.classes);

		if (!type.isLate)
			return;
		List<Type> all = dice.oneIn(2) ? program.classes : program.interfaces;
		for (Type each : all)
			if (each != type && type.isA(each) && receiver(each) != null) {
				String name = "All." + each.name.toLowerCase();
				at.put("if (#s.loose + #s.apart == 0 && #s.calls-- > 0 && #b < #s.limit) {");
				at.put("#s.quiet++;");
				at.call(name + "[" + name + ".length - 1] = new " + type.name + "(null);");
				at.put("#s.quiet--;");
				at.put("}");
				return;
			}
	}
}
