package random;

import random.Program.Type;

/**
 * The body of one method or lambda: its frame on the shadow stack, its variables, and where it is written. Variables have the number of
 * the level behind their names, since a lambda sees those of the method around it.
 */
final class Body {
	final Source out;
	/** null: of a class that is not planned. */
	final Type owner;
	/** Of the shadow stack, a lambda's without its number. */
	final String frame;
	final int level;
	final boolean isStatic;
	/** What `return` in the middle is, or null: nothing may return there. */
	String early;
	/** Statements that may still be written, also inside others. */
	int left;

	Body(Source out, Type owner, String frame, int level, boolean isStatic) {
		this.out = out;
		this.owner = owner;
		this.frame = frame;
		this.level = level;
		this.isStatic = isStatic;
	}

	/** The name of a lambda's frame: that of the method around it. */
	Body lambda() {
		String owner = frame.substring(0, frame.lastIndexOf('.') + 1), method = frame.substring(owner.length());

		if (method.equals("<init>"))
			method = "new";
		if (method.equals("<clinit>"))
			method = "static";
		if (!method.startsWith("lambda$"))
			method = "lambda$" + method + "$";
		Body ret = new Body(out, this.owner, owner + method, level + 1, isStatic);
		ret.left = Math.min(left / 2, 3);
		return ret;
	}

	String s() {
		return "s" + level;
	}

	String b() {
		return "b" + level;
	}

	String n() {
		return "n" + level;
	}

	String sum() {
		return "sum" + level;
	}

	private String own(String code) {
		return code.replace("#sum", sum()).replace("#s", s()).replace("#b", b()).replace("#n", n());
	}

	/** #s, #b, #n and #sum are the variables. */
	void put(String code) {
		out.put(own(code));
	}

	void putSpecial(String code) {
		out.putSpecial(own(code));
	}

	/** The frame's line is that of the next line of code. */
	void at() {
		out.put("%s.depth = %s + 1; %s.lines[%s] = %d;", s(), b(), s(), b(), out.lineAfterNext());
	}

	/** In the next line of code something is called. */
	void call(String code) {
		at();
		put(code);
	}

	/** Pushes the frame. Before: there is a Shadow. */
	void enter() {
		put("final int #b = #s.depth;");
		put("if (#b >= #s.lines.length)");
		put("\t#s.grow();");
		out.put("%s.names[%s] = \"%s\";", s(), b(), frame);
		put("#s.depth = #b + 1;");
		put("int #sum = #n;");
	}

	void leave() {
		put("#s.depth = #b;");
	}

	String leaveText(String result) {
		return own("#s.depth = #b; " + result);
	}

	void leave(String result) {
		leave();
		put(result);
	}
}
