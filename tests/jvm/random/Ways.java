package random;

import java.util.ArrayList;
import java.util.List;
import random.Program.Group;
import random.Program.Kind;
import random.Program.Static;
import random.Program.Type;

/** Writes the statements that go other ways than by a plain call: callbacks, lambdas, reflection, handles, proxies, loaders, threads. */
final class Ways {
	/** Methods for references to them, which are written later. */
	static final class Back {
		final String name;
		final Callbacks.Row row;
		final boolean isStatic;

		Back(String name, Callbacks.Row row, boolean isStatic) {
			this.name = name;
			this.row = row;
			this.isStatic = isStatic;
		}
	}

	private static final int MAX_BACKS = 12;
	private static final String HANDLES = "java.lang.invoke.MethodHandles";

	private final Program program;
	private final Dice dice;
	private final Statements statements;
	final List<Back> backs = new ArrayList<>();

	Ways(Program program, Statements statements) {
		this.program = program;
		this.dice = program.dice;
		this.statements = statements;
	}

	/* ---- callbacks of the JDK ---- */

	private static String atLevel(String code, Body body) {
		return code.replaceAll("\\b([xyz])\\b", "$1" + body.level);
	}

	/** A body that the JDK calls, behind its brace. from: the Shadow. row: null if it is not of one. count: statements. */
	void foreign(Body at, String from, String number, String result, Callbacks.Row row, int count) {
		boolean isLoose = row != null && row.isLoose;

		at.put("final Shadow #s = " + from + ";");
		at.put("final int #n = " + number + ";");
		if (isLoose) {
			at.put("final long dice#s = #s.dice, left#s = #s.calls * 65536L + #s.points;");
			at.put("#s.loose++;");
			at.put("#s.start(#n, 6, 1);");
		}
		at.enter();
		at.put("try {");
		boolean isCall = result.startsWith("return super.");
		at.early = result.startsWith("return") && !isCall ? result : null;
		statements.point(at);
		statements.statements(at, count);
		if (row != null && row.isFailing)
			statements.throwing(at, 2);
		if (isCall)
			at.call(result);
		at.put("} finally {");
		at.leave();
		if (isLoose)
			at.put("#s.dice = dice#s; #s.calls = (int) (left#s / 65536); #s.points = (int) (left#s % 65536); #s.loose--;");
		at.put("}");
		if (!isCall)
			at.put(result);
	}

	void back(Body at, Callbacks.Row row) {
		String result = atLevel(row.result, at);

		foreign(at, "Shadow.get()", row.parameters.contains("x") ? atLevel("x", at) : "2", result, row, dice.roll(3));
	}

	private void lambdaOf(Body at, Callbacks.Row row, String name) {
		Body inner = at.lambda();
		String from = row.isLoose || dice.oneIn(2) ? "Shadow.get()" : at.s();

		at.put("final " + row.type + " " + name + " = (" + atLevel(row.parameters, inner) + ") -> {");
		foreign(inner, from, row.parameters.contains("x") ? atLevel("x", inner) : "2", atLevel(row.result, inner), row, dice.roll(3));
		at.put("};");
	}

	static Body inClass(Body at, String suffix, String method) {
		String owner = at.frame.substring(0, at.frame.lastIndexOf('.'));
		Body ret = new Body(at.out, null, owner + "$" + suffix + "." + method, at.level + 1, false);

		ret.left = Math.min(at.left / 2, 3);
		return ret;
	}

	private void anonymousOf(Body at, Callbacks.Row row, String name) {
		Body inner = inClass(at, "", row.method.substring(row.method.indexOf(' ') + 1));

		at.at();
		at.putSpecial("final " + row.type + " " + name + " = new " + row.type + "() {");
		at.put("public " + row.method + "(" + atLevel(row.parameters, inner) + ") {");
		back(inner, row);
		at.put("}");
		at.put("};");
	}

	private void referenceTo(Body at, Callbacks.Row row, String name) {
		Back back = new Back(statements.local("back"), row, dice.oneIn(2));

		backs.add(back);
		at.call("final " + row.type + " " + name + " = " + (back.isStatic ? "Backs::" : "new Backs()::") + back.name + ";");
	}

	void callback(Body at) {
		Callbacks.Row row = dice.of(dice.oneIn(8) ? Callbacks.LOOSE : Callbacks.ROWS);
		String name = statements.local("callback");

		at.put("if (#s.calls-- > 0 && #b < #s.limit" + (row.isLoose ? " && #s.mayStartThreads()" : "") + ") {");
		switch (dice.roll(4)) {
		case 0:
			anonymousOf(at, row, name);
			break;
		case 1:
			if (backs.size() < MAX_BACKS) {
				referenceTo(at, row, name);
				break;
			}
		default:
			lambdaOf(at, row, name);
		}
		at.call("#sum += " + row.call.replace("@", name) + ";");
		at.put("}");
	}

	/** Constructors that the JDK calls and that throw before and behind that of their superclass. */
	void made(Body at) {
		String base = statements.local("base");

		at.put("if (#s.calls-- > 0 && #b < #s.limit) {");
		at.put("final int " + base + " = #s.base;");
		at.put("#s.base = #b + 1;");
		at.put("try {");
		at.call("#sum += Calls.closed((Runnable) " + dice.of("Made", "MadeOfThrower", "MadeOfList", "MadeOfRandom") + "::new);");
		at.put("} finally {");
		at.put("#s.base = " + base + ";");
		at.put("}");
		at.put("}");
	}

	/* ---- bodies of the program's own methods ---- */

	/** Parameters are the variables. What it throws leaves the shadow stack as it is. */
	void plain(Body at, String result) {
		at.enter();
		at.early = result.startsWith("return") ? at.leaveText(result) : null;
		statements.statements(at, dice.roll(3));
		statements.point(at);
		statements.statements(at, dice.roll(2));
		at.leave(result);
	}

	/** The same, but it restores the depth whatever happens. */
	void restoring(Body at, String result, int count) {
		at.enter();
		at.put("try {");
		at.early = result;
		statements.statements(at, count);
		statements.point(at);
		at.put("} finally {");
		at.leave();
		at.put("}");
		at.put(result);
	}

	Static plainStatic() {
		for (int tries = 0; tries < 20; tries++) {
			Static ret = dice.pick(program.statics);
			if (ret.kind == Kind.PLAIN)
				return ret;
		}
		return new Static(new Type("Plain", false), "plain", Kind.PLAIN, true);
	}

	/* ---- reflection, handles, proxies ---- */

	private void rethrow(Body at, String caught, String thrown) {
		String name = statements.local("failed");

		at.put("} catch (" + caught + " " + name + ") {");
		if (dice.oneIn(2))
			statements.point(at);
		if (dice.oneIn(2))
			at.put("if (#s.loose == 0) throw Shadow.<RuntimeException>sneak(" + thrown.replace("@", name) + ");");
		at.put("}");
	}

	void reflection(Body at) {
		Static method = plainStatic();
		Type type = dice.pick(program.classes);
		String name = statements.local("method"), i = statements.local("i");

		statements.ifMayCall(at);
		at.put("try {");
		if (!type.isAbstract && dice.oneIn(3)) {
			at.call("java.lang.reflect.Constructor<?> " + name + " = " + type.name + ".class"
					+ ".getDeclaredConstructor(Shadow.class, int.class);");
			at.put("for (int " + i + " = 0; " + i + " < " + dice.of(1, 2, 20) + " && #s.calls-- > 0; " + i + "++) {");
			at.call("#sum += ((" + type.name + ") " + name + ".newInstance(#s, #n)).value;");
		} else {
			at.call("java.lang.reflect.Method " + name + " = " + method.owner.name + ".class.getDeclaredMethod(\"" + method.name
					+ "\", Shadow.class, int.class);");
			at.put("for (int " + i + " = 0; " + i + " < " + dice.of(1, 2, 20) + " && #s.calls-- > 0; " + i + "++) {");
			at.call("#sum += (int) " + name + ".invoke(null, #s, " + i + ");");
		}
		at.put("}");
		rethrow(at, "ReflectiveOperationException", "@.getCause()");
		at.put("}");
	}

	private static String find(Static method) {
		return "Fixed.find(" + HANDLES + ".lookup(), " + method.owner.name + ".class, \"" + method.name + "\")";
	}

	private Static restoring() {
		for (Static each : program.statics)
			if (each.restores && each.kind == Kind.PLAIN && dice.oneIn(2))
				return each;
		return new Static(new Type("Plain", false), "plain", Kind.PLAIN, true);
	}

	private String handleCode() {
		switch (dice.roll(6)) {
		case 0:
			return find(plainStatic());
		case 1:
			return HANDLES + ".catchException(" + find(restoring()) + ", Throwable.class, Handles.caught())";
		case 2:
			return HANDLES + ".guardWithTest(Handles.test(), " + find(plainStatic()) + ", " + find(plainStatic()) + ")";
		case 3:
			return HANDLES + ".tryFinally(" + find(restoring()) + ", Handles.cleanup())";
		case 4:
			return HANDLES + ".filterReturnValue(" + find(plainStatic()) + ", Handles.filter())";
		default:
			return HANDLES + ".insertArguments(" + find(plainStatic()) + ", 1, 4)";
		}
	}

	void handle(Body at) {
		String name = statements.local("handle"), code = handleCode();

		statements.ifMayCall(at);
		at.put("try {");
		at.call("java.lang.invoke.MethodHandle " + name + " = " + code + ";");
		at.call("#sum += (int) " + name + (code.contains("insertArguments") ? ".invokeExact(#s);" : dice.of(".invokeExact(#s, #n);",
				".invokeWithArguments(#s, #n);")));
		rethrow(at, "Throwable", "@");
		at.put("}");
	}

	void proxy(Body at) {
		Type type = dice.pick(program.interfaces);
		Group group = type.isGeneric() ? null : statements.plainGroup(type);
		String name = statements.local("proxy");
		Body inner = at.lambda();

		if (group == null)
			return;
		statements.ifMayCall(at);
		at.put("final java.lang.reflect.InvocationHandler " + name + "h = (Object self" + inner.level + ", java.lang.reflect.Method called"
				+ inner.level + ", Object[] all" + inner.level + ") -> {");
		inner.put("final Shadow #s = (Shadow) all" + inner.level + "[0];");
		inner.put("final int #n = (int) all" + inner.level + "[1];");
		inner.enter();
		statements.point(inner);
		inner.put("if (called" + inner.level + ".isDefault() && #s.calls-- > 0 && #b < #s.limit) {");
		inner.call("#sum += (int) java.lang.reflect.InvocationHandler.invokeDefault(self@, called@, all@);".replace("@", "" + inner.level));
		inner.put("}");
		inner.leave("return #sum;");
		at.put("};");
		at.call(type.name + " " + name + " = (" + type.name + ") java.lang.reflect.Proxy.newProxyInstance(" + type.name
				+ ".class.getClassLoader(), new Class<?>[] {" + type.name + ".class}, " + name + "h);");
		at.call("#sum += " + name + "." + group.name + "(#s, #n);");
		at.put("}");
	}

	/* ---- loaders and threads ---- */

	void world(Body at) {
		at.put("if (#s.loose + #s.apart == 0 && #b < #s.limit && #s.worlds-- > 0) {");
		at.put("try {");
		at.call("#sum += (int) " + dice.of("new Again(Main.class)", "new Loader()") + ".loadClass(\"" + program.packageName()
				+ ".Main\").getMethod(\"again\", Shadow.class, int.class).invoke(null, #s, #n);");
		rethrow(at, "ReflectiveOperationException", "@.getCause()");
		if (dice.oneIn(3))
			at.put("System.gc();");
		at.put("}");
	}

	/** What a thread begins with: its dice, and nothing leaves it. */
	private void task(Body at, String result, int seed) {
		at.put("final Shadow #s = Shadow.get();");
		at.put("final int #n = " + seed + ";");
		at.put("#s.start(#n, 30, 8);");
		at.enter();
		at.put("try {");
		at.early = result;
		statements.point(at);
		statements.statements(at, 1 + dice.roll(3));
		if (dice.oneIn(2))
			statements.throwing(at, 2);
		at.put("} finally {");
		at.leave();
		at.put("}");
		at.put(result);
	}

	private void tasks(Body at, String name, int count) {
		at.put("final java.util.List<java.util.concurrent.Callable<Integer>> " + name + " = new java.util.ArrayList<>();");
		for (int i = 0; i < count; i++) {
			Body inner = at.lambda();
			at.put(name + ".add(() -> {");
			task(inner, "return 1;", i + 1);
			at.put("});");
		}
	}

	void thread(Body at) {
		String name = statements.local("tasks");

		at.put("if (#b < #s.limit && #s.mayStartThreads()) {");
		tasks(at, name, 1 + dice.roll(4));
		at.call("#sum += Fixed.threads(" + name + ", " + (!program.hasLocks && dice.oneIn(2)) + ");");
		at.put("}");
	}

	/** A class that is a thread, whose run is called by the JDK or by anybody. */
	void worker(Body at) {
		at.put("if (#b < #s.limit && #s.mayStartThreads()) {");
		at.call("#sum += " + dice.of("new Worker().started()", "Fixed.run(new Worker())", "new Worker(new Worker()).started()") + ";");
		at.put("}");
	}

	void executor(Body at) {
		String name = statements.local("tasks");

		at.put("if (#b < #s.limit && #s.mayStartThreads()) {");
		tasks(at, name, 1 + dice.roll(3));
		at.call("#sum += Fixed.executed(" + name + ");");
		at.put("}");
	}

	/* ---- deep stacks ---- */

	void deep(Body at) {
		at.put("if (#s.loose + #s.apart == 0 && #b < #s.limit && #s.deeps-- > 0) {");
		at.put("#s.limit += 2500;");
		at.put("#s.points = Math.min(#s.points, 3);");
		at.put("try {");
		at.call("#sum += " + dice.of("Deep.down", "new Deep(0).turn", "Deep.LAMBDA.on") + "(#s, " + (300 + dice.roll(1500)) + ");");
		at.put("} finally {");
		at.put("#s.limit -= 2500;");
		at.put("}");
		at.put("}");
	}

	/** Often enough to be compiled. */
	void hot(Body at) {
		at.put("if (#s.loose + #s.apart == 0 && #b < #s.limit && #s.hots-- > 0) {");
		at.call("#sum += Hot.loop(#s, " + (500 + dice.roll(3000)) + ");");
		at.put("}");
	}

	void overflow(Body at) {
		at.put("if (#s.loose == 0 && #s.overflows-- > 0) {");
		at.put("try {");
		at.call("#sum += " + dice.of("Deep.over(#s, 1)", "new Deep(0).overTurn(#s, 1)", "Deep.OVER.on(#s, 1)", "new Deep(#s, 1).value",
				"Deep.overFinally(#s, 1)") + ";");
		at.put("} catch (StackOverflowError " + statements.local("thrown") + ") {");
		statements.point(at);
		at.put("}");
		at.put("}");
	}
}
