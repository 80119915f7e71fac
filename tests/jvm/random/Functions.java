package random;

import java.util.List;
import java.util.function.BiFunction;
import random.Program.Group;
import random.Program.Static;
import random.Program.Type;

/** Writes functions of the program's own types: lambdas, references to methods and constructors, anonymous and local classes. */
final class Functions {
	private final Program program;
	private final Dice dice;
	private final Statements statements;
	private final Ways ways;
	/** Each writes a local of a name and returns the expression that calls it; null: not here. */
	private final List<BiFunction<Body, String, String>> forms = List.of(this::lambda, this::lambda, this::anonymous, this::ofStatic,
			this::bound, this::unbound, this::ofConstructor, this::ofSuper);

	Functions(Program program, Statements statements, Ways ways) {
		this.program = program;
		this.dice = program.dice;
		this.statements = statements;
		this.ways = ways;
	}

	private static String parameters(Body inner) {
		return "(final Shadow " + inner.s() + ", final int " + inner.n() + ")";
	}

	/** A type that has objects and a plain method. null: not found. */
	private Type plainType() {
		Type ret = dice.pick(dice.oneIn(2) ? program.classes : program.interfaces);

		return statements.receiver(ret) == null || ret.isGeneric() || statements.plainGroup(ret) == null ? null : ret;
	}

	private static String called(String name) {
		return name + ".on(#s, #n + 1)";
	}

	private String lambda(Body at, String name) {
		Body inner = at.lambda();

		at.put("final Fixed.F " + name + " = " + parameters(inner) + " -> {");
		ways.plain(inner, "return " + inner.sum() + ";");
		at.put("};");
		return called(name);
	}

	private void method(Body at, Body inner) {
		at.put("public int on" + parameters(inner) + " {");
		ways.plain(inner, "return " + inner.sum() + ";");
		at.put("}");
	}

	private String anonymous(Body at, String name) {
		at.at();
		at.putSpecial("final Fixed.F " + name + " = new Fixed.F() {");
		method(at, Ways.inClass(at, "", "on"));
		at.put("};");
		return called(name);
	}

	private String ofStatic(Body at, String name) {
		Static method = ways.plainStatic();

		at.call("final Fixed.F " + name + " = " + method.owner.name + "::" + method.name + ";");
		return called(name);
	}

	private String bound(Body at, String name) {
		Type type = plainType();

		if (type == null)
			return null;
		at.call("final Fixed.F " + name + " = " + statements.receiver(type) + "::" + statements.plainGroup(type).name + ";");
		return called(name);
	}

	private String unbound(Body at, String name) {
		Type type = plainType();

		if (type == null)
			return null;
		at.call("final Fixed.Unbound<" + type.name + "> " + name + " = " + type.name + "::" + statements.plainGroup(type).name + ";");
		return name + ".on(" + statements.receiver(type) + ", #s, #n)";
	}

	private String ofConstructor(Body at, String name) {
		Type type = dice.pick(program.classes);

		if (type.isAbstract)
			return null;
		at.call("final Fixed.Make<" + type.name + "> " + name + " = " + type.name + "::new;");
		return name + ".on(#s, #n).value";
	}

	/** The compiler makes a lambda of it, whose line is its own. */
	private String ofSuper(Body at, String name) {
		Type parent = at.isStatic || at.owner == null || at.owner.isInterface ? null : at.owner.parent;
		Group group = parent != null ? statements.plainGroup(parent) : null;

		if (group == null || !parent.has(group))
			return null;
		at.at();
		at.putSpecial("final Fixed.F " + name + " = super::" + group.name + ";");
		return called(name);
	}

	void function(Body at) {
		String name = statements.local("function"), call;

		statements.ifMayCall(at);
		do
			call = dice.pick(forms).apply(at, name);
		while (call == null);
		at.call("#sum += " + call + ";");
		if (call.equals(called(name)) && dice.oneIn(4))
			at.call("#sum += Fixed.twice(#s, " + name + ", #n);");
		at.put("}");
	}

	void localClass(Body at) {
		String name = statements.local("Local");

		statements.ifMayCall(at);
		at.putSpecial("final class " + name + " extends Fixed.Based {");
		method(at, Ways.inClass(at, name, "on"));
		at.put("}");
		at.call("#sum += new " + name + "().on(#s, #n) + new " + name + "().based(#s, 1);");
		at.put("}");
	}
}
