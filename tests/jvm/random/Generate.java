package random;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import random.Program.Group;
import random.Program.Kind;
import random.Program.Static;
import random.Program.Type;

/**
 * Generate FIRST LAST FOLDER - writes a random program for each seed, FOLDER/pSEED/Main.java, which checks its own contexts (Shadow). The
 * same seed gives the same bytes.
 */
public final class Generate {
	private static final int STATEMENTS = 7;
	private static final int ITERATIONS = 30;

	private final Program program;
	private final Dice dice;
	private final Source out = new Source();
	private final Statements statements;

	private Generate(int seed) {
		program = new Program(seed);
		dice = program.dice;
		statements = new Statements(program);
	}

	public static void main(String[] arguments) throws IOException {
		for (int seed = Integer.parseInt(arguments[0]); seed <= Integer.parseInt(arguments[1]); seed++) {
			Path file = Path.of(arguments[2], "p" + seed, "Main.java");

			Files.createDirectories(file.getParent());
			Files.writeString(file, new Generate(seed).text());
		}
	}

	private String text() {
		out.put("package %s;", program.packageName());
		out.put("import dev.waymark.Waymark;");
		out.put("import random.*;");
		main();
		for (Type each : program.interfaces)
			type(each);
		for (Type each : program.classes)
			type(each);
		objects();
		new FixedText(program, out, statements).write();
		backs();
		return out.toString();
	}

	private Body body(Type owner, String method, boolean isStatic) {
		Body ret = new Body(out, owner, program.packageName() + '.' + owner.name + '.' + method, 0, isStatic);

		ret.left = STATEMENTS;
		return ret;
	}

	/* ---- methods ---- */

	private static String parameters(Kind kind, String type) {
		switch (kind) {
		case WIDE:
			return "long wide0, final Shadow s0, double wide1, final int n0, long wide2";
		case VARARGS:
			return "final Shadow s0, final int n0, Object... rest";
		case GENERIC:
			return "final Shadow s0, final int n0, " + type + " one";
		default:
			return "final Shadow s0, final int n0";
		}
	}

	private static String result(Kind kind, Body body) {
		switch (kind) {
		case WIDE:
			return "return " + body.sum() + " + (int) (wide0 + wide1 + wide2);";
		case VARARGS:
			return "return " + body.sum() + " + rest.length;";
		case GENERIC:
			return "return one;";
		default:
			return "return " + body.sum() + ";";
		}
	}

	private void content(Body body, String result, boolean restores) {
		if (restores)
			statements.ways.restoring(body, result, 1 + dice.roll(4));
		else
			statements.ways.plain(body, result);
		out.put("}");
	}

	private void group(Type type, Group group) {
		boolean isOwn = type.declared.contains(group), hasBody = type.bodies.contains(group);
		String parameter = isOwn && group.kind == Kind.GENERIC ? "T" : "Integer", returned = "int";
		Body body = body(type, group.name, false);

		if (group.kind == Kind.GENERIC)
			returned = parameter;
		if (group.kind == Kind.COVARIANT)
			returned = isOwn ? "Object" : "Integer";
		String head = returned + ' ' + group.name + '(' + parameters(group.kind, parameter) + ')';
		if (!hasBody) {
			out.put("public abstract %s;", head);
			return;
		}
		boolean isLocked = !type.isInterface && group.name.endsWith("Sync") && dice.oneIn(2);
		out.put("public %s%s {", type.isInterface ? "default " : isLocked ? "synchronized " : "", head);
		content(body, result(group.kind, body), dice.oneIn(3));
	}

	private void staticMethod(Static method) {
		Body body = body(method.owner, method.name, true);
		boolean isLocked = !method.owner.isInterface && method.name.endsWith("Sync");

		out.put("static %sint %s(%s) {", isLocked ? "synchronized " : "", method.name, parameters(method.kind, ""));
		content(body, result(method.kind, body), method.restores);
	}

	/* ---- classes ---- */

	private void type(Type type) {
		StringBuilder head = new StringBuilder(type.isAbstract ? "abstract " : "");

		head.append(type.isInterface ? "interface " : "class ").append(type.asDeclared());
		if (!type.isInterface)
			head.append(" extends ").append(type.parent != null ? type.parent.name : "Root");
		String separator = type.isInterface ? " extends " : " implements ";
		for (Type each : type.interfaces) {
			head.append(separator).append(each.asParent());
			separator = ", ";
		}
		out.putSpecial(head + " {");
		if (!type.isInterface)
			constructors(type);
		for (Group each : type.groups())
			if (type.declared.contains(each) || type.bodies.contains(each))
				group(type, each);
		for (Static each : type.statics)
			staticMethod(each);
		if (!type.isInterface)
			inner(type);
		out.put("}");
	}

	/** In arguments, a frame begins before the superclass's constructor is called. */
	private String entered(Body body, int line) {
		return "s0.enter(\"" + body.frame + "\", " + line + ")";
	}

	private String superArgument() {
		String call = dice.oneIn(3) ? " + (s0.calls-- > 0 && s0.depth < s0.limit ? " + statements.call() + " : 1)" : "";

		return (dice.oneIn(3) ? " + (s0.points-- > 0 ? s0.point(Waymark.token()) : 0)" : "") + call.replace("#s", "s0").replace("#n", "n0");
	}

	private void constructors(Type type) {
		Body body = body(type, "<init>", false);

		out.put("%s(Void none) {", type.name);
		out.put(type.parent != null ? "super(none);" : "super(1);");
		out.put("}");
		out.put("%s(final Shadow s0, final int n0) {", type.name);
		out.put("super(%sn0 + %s%s);", type.parent != null ? "s0, " : "", entered(body, out.nextLine()), superArgument());
		constructed(body);
		out.put("%s(final int n0, final Shadow s0) {", type.name);
		out.put("this(s0, n0 + %s%s);", entered(body, out.nextLine()), superArgument());
		constructed(body);
		if (dice.oneIn(2)) {
			out.put("{");
			initialiser(body(type, "<init>", false));
			out.put("}");
		}
	}

	/** The frame is there; what the other constructor has left above it is of no account. */
	private void constructed(Body body) {
		body.left = STATEMENTS;
		out.put("final int b0 = s0.depth - 1;");
		out.put("int sum0 = n0;");
		statements.point(body);
		statements.statements(body, dice.roll(3));
		body.put("value = #sum;");
		body.leave();
		out.put("}");
	}

	/** Of objects in All, too, whose constructors have no frame. */
	private void initialiser(Body body) {
		out.put("final Shadow s0 = Shadow.get();");
		out.put("final int n0 = 1, b0 = s0.depth - 1;");
		out.put("if (s0.quiet == 0) {");
		out.put("int sum0 = n0;");
		statements.point(body);
		statements.statement(body);
		body.put("value = #sum;");
		body.put("#s.depth = #b + 1;");
		out.put("}");
	}

	private void inner(Type type) {
		Body body = new Body(out, null, program.packageName() + '.' + type.name + "$Inner" + type.name + ".run", 0, false);

		body.left = 3;
		out.putSpecial("class Inner" + type.name + " {");
		out.put("int run(final Shadow s0, final int n0) {");
		content(body, "return sum0 + value;", dice.oneIn(3));
		out.put("}");
	}

	/** Objects to call, of every class that they may be of. */
	private void objects() {
		out.putSpecial("@SuppressWarnings(\"rawtypes\") final class All {");
		out.put("static final int BEGIN = Shadow.get().enter(\"%s.All.<clinit>\", 0) + Shadow.get().quiet(1);", program.packageName());
		for (List<Type> all : List.of(program.classes, program.interfaces))
			for (Type each : all) {
				StringBuilder text = new StringBuilder();
				for (Type object : program.implementers(each))
					text.append(text.length() > 0 ? ", " : "").append("new ").append(object.name).append("(null)");
				if (text.length() > 0)
					out.put("static final %s[] %s = {%s};", each.name, each.name.toLowerCase(), text);
			}
		out.put("static final int END = Shadow.get().quiet(-1) + Shadow.get().leave();");
		out.put("}");
	}

	/** What method references of callbacks are of; writing one may add more. */
	private void backs() {
		List<Ways.Back> all = statements.ways.backs;

		out.putSpecial("final class Backs {");
		for (int i = 0; i < all.size(); i++) {
			Ways.Back back = all.get(i);
			String type = back.row.method.substring(0, back.row.method.indexOf(' '));
			Body body = new Body(out, null, program.packageName() + ".Backs." + back.name, 0, back.isStatic);

			body.left = 2;
			out.put("%s%s %s(%s) {", back.isStatic ? "static " : "", type, back.name,
					back.row.parameters.replaceAll("\\b([xy])\\b", "$10"));
			statements.ways.back(body, back.row);
			out.put("}");
		}
		out.put("}");
	}

	/* ---- main ---- */

	private void main() {
		Body again = body(new Type("Main", false), "again", true), run = body(new Type("Main", false), "run", true);

		out.putSpecial("public final class Main {");
		out.put("public static int again(final Shadow s0, final int n0) {");
		content(again, "return sum0;", true);
		out.put("public static void run() {");
		out.put("Shadow.begin();");
		out.put("final Shadow s0 = Shadow.get();");
		out.put("final int n0 = 1;");
		out.put("s0.worlds = 2;");
		out.put("s0.overflows = s0.deeps = s0.hots = 2;");
		out.put("s0.threads = 12;");
		run.enter();
		out.put("for (int i = 0; i < %d; i++) {", ITERATIONS);
		out.put("if (!Shadow.isWanted(i)) { continue; }");
		out.put("s0.start(i + %d, 60, 24);", program.seed * 100L);
		out.put("s0.limit = 80;");
		out.put("s0.loose = s0.quiet = 0;");
		out.put("try {");
		out.put("switch (i) {");
		for (int i = 0; i < ITERATIONS; i++) {
			out.put("case %d:", i);
			run.left = 2;
			if (dice.oneIn(3))
				statements.statement(run);
			run.call("#sum += " + statements.call() + ";");
			out.put("break;");
		}
		out.put("}");
		out.put("} catch (Throwable thrown) {");
		statements.point(run);
		out.put("}");
		out.put("}");
		run.leave();
		out.put("}");
		out.put("}");
	}
}
