package random;

/**
 * The classes that every program has, with bodies that differ: those that the JDK calls, and those that inherit from it. A line that
 * begins with % is a body or a part of one:
 *
 * <pre>
 *   %class HEAD          a line of its own kind: the compiler adds methods there
 *   %foreign NAME|N|END  all of a method that the JDK calls: its frame, its number, how it returns
 *   %throwing the same   and it often throws
 *   %made NAME           what is behind the call of the superclass's constructor; there is n0
 *   %plain NAME|END      all of a method whose parameters are s0 and n0
 *   %enter NAME          the beginning of one that is written here, and then
 *   %entered NAME        or the frame and its variables are there
 *   %statements          some
 *   %at                  the next line calls
 *   %leave END           and it returns
 * </pre>
 */
final class FixedText {
	static final int INITIALISED = 6;

	private static final String KEY = """
			%class final class Key implements Comparable<Key> {
			final int value;
			Key(int value) {
			this.value = value & 7;
			}
			public int compareTo(Key other) {
			%foreign Key.compareTo|value|return Integer.compare(value, other.value);
			}
			public int hashCode() {
			%foreign Key.hashCode|value|return value & 3;
			}
			public boolean equals(Object other) {
			%foreign Key.equals|value|return other instanceof Key && ((Key) other).value == value;
			}
			public String toString() {
			%foreign Key.toString|value|return "key" + value;
			}
			}
			%class record Pair(int number, Key key) {
			Pair {
			%foreign Pair.<init>|number|number += 1;
			}
			}
			%class final class Resource implements AutoCloseable {
			private final int depth;
			Resource(Shadow s0, int n0) {
			depth = s0.depth;
			%plain Resource.<init>|
			}
			public void close() {
			Shadow.get().depth = depth;
			%foreign Resource.close|2|return;
			}
			}
			""";
	private static final String COLLECTIONS = """
			%class interface Sized {
			int size();
			int indexOf(Object one);
			int BEGIN = Shadow.get().enter("@.Sized.<clinit>", 0);
			Sized[] ALL = {new Listing(), new Small(), new Smaller()};
			int END = Shadow.get().leave();
			private int sum(int n) {
			final Shadow s0 = Shadow.get();
			final int n0 = n;
			%enter Sized.sum
			%at
			sum0 += size() + indexOf(n);
			%leave return sum0;
			}
			default int twice() {
			final Shadow s0 = Shadow.get();
			final int n0 = 5;
			%enter Sized.twice
			%at
			sum0 += sum(n0);
			%leave return sum0;
			}
			}
			%class class Small implements Sized {
			public int size() {
			%foreign Small.size|1|return 1;
			}
			public int indexOf(Object one) {
			%foreign Small.indexOf|2|return 0;
			}
			}
			%class final class Smaller extends Small {
			public int indexOf(Object one) {
			%foreign Smaller.indexOf|2|return super.indexOf(one);
			}
			}
			%class interface Adding {
			boolean addAll(java.util.Collection<?> all);
			}
			%class interface Getting {
			Object get(Object key);
			}
			%class final class Listing extends java.util.AbstractList<Integer> implements Sized {
			public Integer get(int at) {
			%foreign Listing.get|at|return at + 4;
			}
			public int size() {
			%foreign Listing.size|3|return 3;
			}
			}
			%class final class Bag extends java.util.AbstractCollection<Object> implements Adding {
			public boolean add(Object one) {
			%foreign Bag.add|1|return true;
			}
			public java.util.Iterator<Object> iterator() {
			%foreign Bag.iterator|2|return java.util.List.<Object>of(1, 2).iterator();
			}
			public int size() {
			%foreign Bag.size|3|return 2;
			}
			}
			%class final class Table extends java.util.AbstractMap<Object, Object> implements Getting {
			public java.util.Set<java.util.Map.Entry<Object, Object>> entrySet() {
			%foreign Table.entrySet|1|return java.util.Map.<Object, Object>of(1, 2).entrySet();
			}
			}
			%class final class Recent extends java.util.LinkedHashMap<Object, Object> {
			protected boolean removeEldestEntry(java.util.Map.Entry<Object, Object> eldest) {
			%foreign Recent.removeEldestEntry|1|return true;
			}
			public Object put(Object key, Object value) {
			%foreign Recent.put|1|return super.put(key, value);
			}
			int putAll(int n0) {
			final Shadow s0 = Shadow.get();
			%enter Recent.putAll
			%at
			putAll(java.util.Map.of(n0, 1));
			%at
			put(n0, 5);
			%leave return sum0;
			}
			}
			%class final class Number7 extends java.util.Random {
			Number7(long seed) {
			super(seed + Shadow.get().enter("@.Number7.<init>", NEXT));
			Shadow.get().depth--;
			}
			public void setSeed(long seed) {
			%foreign Number7.setSeed|1|return;
			}
			protected int next(int bits) {
			%foreign Number7.next|bits|return 1;
			}
			}
			%class final class Bytes extends java.io.InputStream {
			public int read() {
			%foreign Bytes.read|1|return 1;
			}
			int skipped() {
			final Shadow s0 = Shadow.get();
			final int n0 = 1;
			%enter Bytes.skipped
			try {
			%at
			sum0 += (int) skip(3);
			} catch (java.io.IOException e) {
			throw new Fail(1);
			}
			%leave return sum0;
			}
			}
			%class final class Growing extends java.util.ArrayList<Object> {
			public boolean add(Object one) {
			%foreign Growing.add|2|return super.add(one);
			}
			public Object[] toArray() {
			%foreign Growing.toArray|1|return new Object[] {1, 2};
			}
			int addTwo(int n0) {
			final Shadow s0 = Shadow.get();
			%enter Growing.addTwo
			%at
			sum0 += addAll(new Listing()) ? 1 : 0;
			%at
			sum0 += new java.util.ArrayList<>(this).size();
			%leave return sum0;
			}
			}
			%class final class Lazy extends ThreadLocal<Integer> {
			protected Integer initialValue() {
			%foreign Lazy.initialValue|3|return 4;
			}
			}
			%class final class Each implements Iterable<Integer>, java.util.Iterator<Integer> {
			private int left;
			Each(int left) {
			this.left = left;
			}
			public java.util.Iterator<Integer> iterator() {
			%foreign Each.iterator|3|return this;
			}
			public boolean hasNext() {
			%foreign Each.hasNext|left|return left > 0;
			}
			public Integer next() {
			%foreign Each.next|left|return left--;
			}
			int sum() {
			final Shadow s0 = Shadow.get();
			final int n0 = 1;
			%enter Each.sum
			%at
			for (int one : this) { sum0 += one; }
			%leave return sum0;
			}
			}
			""";
	private static final String ENUM = """
			%class enum Colour {
			RED(Shadow.get().enter("@.Colour.<clinit>", NEXT), 0),
			GREEN(Shadow.get().at(NEXT), NEXT) { int run(Shadow s0, int n0) {
			%plain Colour$.run|return sub(s0, n0);
			} },
			BLUE(Shadow.get().at(NEXT), 0);
			Colour(int zero, int line) {
			final Shadow s0 = Shadow.get();
			final int n0 = 1;
			if (line > 0) { s0.enter("@.Colour$.<init>", line); }
			%enter Colour.<init>
			%statements
			%leave
			if (line > 0) { s0.depth--; }
			}
			static {
			Shadow.get().depth--;
			}
			int sub(Shadow s0, int n0) {
			return n0;
			}
			Colour next(Shadow s0, int n0) {
			%plain Colour.next|return values()[(n0 & 7) % 3];
			}
			int run(Shadow s0, int n0) {
			%plain Colour.run|return sum0;
			}
			}
			""";
	/** Initialised in the middle of the run, or not at all. */
	private static final String INITIALISED_CLASS = """
			%class class K# {
			static int value;
			int own = 1;
			static {
			%foreign K#.<clinit>|5|value = 6;
			%fails
			}
			static int get(Shadow s0, int n0) {
			%plain K#.get|return sum0;
			}
			%class static final class Own extends K# {
			}
			%class interface Constants {
			int VALUE = Shadow.get().enter("@.K#$Constants.<clinit>", NEXT) + CALL + Shadow.get().leave();
			}
			}
			""";
	private static final String HANDLES = """
			%class final class Handles {
			private static java.lang.invoke.MethodHandle find(String name, Class<?> result, Class<?>... types) {
			try {
			return java.lang.invoke.MethodHandles.lookup().findStatic(Handles.class, name,
			java.lang.invoke.MethodType.methodType(result, types));
			} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
			}
			}
			static java.lang.invoke.MethodHandle caught() {
			return find("catches", int.class, Throwable.class, Shadow.class, int.class);
			}
			static java.lang.invoke.MethodHandle test() {
			return find("tests", boolean.class, Shadow.class, int.class);
			}
			static java.lang.invoke.MethodHandle cleanup() {
			return find("cleans", int.class, Throwable.class, int.class, Shadow.class, int.class);
			}
			static java.lang.invoke.MethodHandle filter() {
			return find("filters", int.class, int.class);
			}
			static int catches(Throwable thrown, Shadow s0, int n0) {
			%plain Handles.catches|return sum0;
			}
			static boolean tests(Shadow s0, int n0) {
			%plain Handles.tests|return (sum0 & 1) == 0;
			}
			static int cleans(Throwable thrown, int result, Shadow s0, int n0) {
			%plain Handles.cleans|return result;
			}
			static int filters(int result) {
			%foreign Handles.filters|result|return result;
			}
			}
			%class final class Plain {
			static int plain(Shadow s0, int n0) {
			%restoring Plain.plain|return sum0;
			}
			}
			""";
	private static final String THREADS = """
			%class final class Worker extends Thread {
			Worker() {
			this(null);
			}
			Worker(Runnable task) {
			super(task);
			setUncaughtExceptionHandler((self, thrown) -> { });
			}
			public void run() {
			final Shadow s0 = Shadow.get();
			final int n0 = 3;
			%enter Worker.run
			if (b0 == 0) { s0.start(n0, 20, 6); }
			try {
			%at
			super.run();
			%statements
			} finally {
			s0.depth = b0;
			}
			}
			int started() {
			final Shadow s0 = Shadow.get();
			final int n0 = 3;
			%enter Worker.started
			%at
			sum0 += Fixed.started(this);
			%leave return sum0;
			}
			}
			%class class Hot {
			static final int BEGIN = Shadow.get().enter("@.Hot.<clinit>", 0);
			static final Hot[] ALL = {new Hot(), new Hotter(), new Hottest()};
			static final int END = Shadow.get().leave();
			static int loop(Shadow s0, int n0) {
			%enter Hot.loop
			for (int i = 0; i < n0; i++) {
			try {
			%at
			sum0 += ALL[i % 7 % 3].step(s0, i);
			} catch (Fail e) {
			%at
			if (i % 1001 == 1000) { s0.point(Waymark.token()); }
			%at
			sum0 += ALL[i & 1].last(s0, i);
			}
			}
			%leave return sum0;
			}
			int step(Shadow s0, int n0) {
			%enter Hot.step
			if (n0 % 50 == 0) { throw new Fail(n0); }
			%at
			sum0 += last(s0, n0);
			%at
			sum0 += last(s0, n0 + 1);
			%leave return sum0;
			}
			int last(Shadow s0, int n0) {
			%enter Hot.last
			if (n0 % 777 == 776) {
			%at
			s0.point(Waymark.token());
			}
			%leave return sum0;
			}
			}
			%class class Hotter extends Hot {
			int step(Shadow s0, int n0) {
			%enter Hotter.step
			for (int i = 0; i < 2; i++) {
			%at
			sum0 += super.step(s0, n0 + i);
			}
			%leave return sum0;
			}
			}
			%class final class Hottest extends Hotter {
			int last(Shadow s0, int n0) {
			%enter Hottest.last
			try {
			%at
			sum0 += super.last(s0, n0);
			} finally {
			if (n0 % 555 == 5) {
			%at
			s0.point(Waymark.token());
			}
			}
			%leave return sum0;
			}
			}
			""";
	private static final String MADE = """
			%class final class Made extends Root {
			Made() {
			super(Shadow.get().enterAtBase("@.Made.<init>", NEXT) + (CALL) + thrown());
			final Shadow s0 = Shadow.get();
			final int n0 = 4, b0 = s0.depth - 1;
			int sum0 = n0;
			%entered Made.<init>
			%statements
			value = sum0 + thrown();
			%leave
			}
			static int thrown() {
			final Shadow s0 = Shadow.get();
			if (s0.loose == 0 && s0.roll(3) == 0) { throw new Fail(1); }
			return 1;
			}
			static int capacity() {
			final Shadow s0 = Shadow.get();
			return s0.loose == 0 && s0.roll(2) == 0 ? -1 : 1;
			}
			}
			%class class Thrower extends Root {
			Thrower(int n0) {
			super(n0 + Shadow.get().enter("@.Thrower.<init>", NEXT));
			%made Thrower.<init>
			}
			}
			%class final class MadeOfThrower extends Thrower {
			MadeOfThrower() {
			super(3 + Shadow.get().enterAtBase("@.MadeOfThrower.<init>", NEXT));
			final int n0 = 4;
			%made MadeOfThrower.<init>
			}
			}
			%class final class MadeOfList extends java.util.ArrayList<Object> {
			MadeOfList() {
			super(Shadow.get().enterAtBase("@.MadeOfList.<init>", NEXT) + Made.capacity());
			final int n0 = 4;
			%made MadeOfList.<init>
			}
			}
			%class final class MadeOfRandom extends java.util.Random {
			MadeOfRandom() {
			super(Shadow.get().enterAtBase("@.MadeOfRandom.<init>", NEXT));
			final int n0 = 4;
			%made MadeOfRandom.<init>
			}
			public void setSeed(long seed) {
			%throwing MadeOfRandom.setSeed|2|return;
			}
			}
			""";
	private static final String LOADER = """
			%class final class Loader extends Again {
			Loader() {
			super(Main.class);
			}
			protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
			if (!isOwn(name)) {
			Waymark.capture();
			return super.loadClass(name, isResolved);
			}
			final Shadow s0 = Shadow.get();
			final int n0 = 1, line = s0.hide();
			%enter Loader.loadClass
			s0.loose++;
			try {
			%at
			s0.point(Waymark.token());
			%at
			return super.loadClass(name, isResolved);
			} finally {
			s0.loose--;
			s0.depth = b0;
			s0.unhide(line);
			}
			}
			}
			""";
	private static final String DEEP = """
			%class class Deep {
			final int value;
			Deep(int value) {
			this.value = value;
			}
			Deep(Shadow s0, int n0) {
			%enter Deep.<init>
			%at
			value = new Deep(s0, n0 + 1).value;
			%leave
			}
			static final Fixed.F LAMBDA = (s0, n0) -> {
			%enter Deep.lambda$static$
			%at
			sum0 += n0 > 0 ? Deep.LAMBDA.on(s0, n0 - 1) : bottom(s0, n0);
			%leave return sum0;
			};
			static final Fixed.F OVER = (s0, n0) -> {
			%enter Deep.lambda$static$
			%at
			sum0 += Deep.OVER.on(s0, n0 + 1);
			%leave return sum0;
			};
			static int bottom(Shadow s0, int n0) {
			%plain Deep.bottom|return sum0;
			}
			static int down(Shadow s0, int n0) {
			%enter Deep.down
			if (n0 % 3 == 0) {
			%at
			sum0 += n0 > 0 ? new Deep(0).turn(s0, n0 - 1) : bottom(s0, n0);
			} else {
			%at
			sum0 += down(s0, n0 - 1);
			}
			%leave return sum0;
			}
			int turn(Shadow s0, int n0) {
			%enter Deep.turn
			%at
			sum0 += n0 > 0 ? down(s0, n0 - 1) : bottom(s0, n0);
			%leave return sum0;
			}
			static int over(Shadow s0, int n0) {
			%enter Deep.over
			%at
			sum0 += over(s0, n0 + 1);
			%leave return sum0;
			}
			int overTurn(Shadow s0, int n0) {
			%enter Deep.overTurn
			%at
			sum0 += n0 % 2 == 0 ? overTurn(s0, n0 + 1) : ((Deep) this).overTurn(s0, n0 + 3);
			%leave return sum0;
			}
			static int overFinally(Shadow s0, int n0) {
			%enter Deep.overFinally
			try {
			%at
			sum0 += overFinally(s0, n0 + 1);
			} finally {
			%at
			sum0 += leaf(s0, n0);
			}
			%leave return sum0;
			}
			static int leaf(Shadow s0, int n0) {
			return Math.max(s0.depth, n0);
			}
			}
			""";

	private final Program program;
	private final Source out;
	private final Statements statements;
	private final Ways ways;

	FixedText(Program program, Source out, Statements statements) {
		this.program = program;
		this.out = out;
		this.statements = statements;
		this.ways = statements.ways;
	}

	void write() {
		for (String text : new String[] {KEY, COLLECTIONS, ENUM, HANDLES, THREADS, MADE, LOADER, DEEP})
			write(text);
		for (int i = 0; i < INITIALISED; i++)
			write(INITIALISED_CLASS.replace("K#", "K" + i));
	}

	private Body body(String name) {
		/* Static: nothing here has a superclass of the program. */
		Body ret = new Body(out, null, program.packageName() + '.' + name, 0, true);

		ret.left = 3;
		return ret;
	}

	private void write(String text) {
		Body body = null;

		for (String line : text.split("\n")) {
			String word = line.startsWith("%") ? line.split(" ")[0] : "", rest = line.substring(word.length()).trim();

			if (word.startsWith("%enter")) {
				body = body(rest);
				if (word.equals("%enter"))
					body.enter();
			} else if (word.isEmpty()) {
				plainLine(rest);
			} else {
				directive(word, rest, body);
			}
		}
	}

	private void plainLine(String line) {
		String call = line.contains("CALL") ? statements.call().replace("#s", "Shadow.get()").replace("#n", "3") : "";

		out.put(line.replace("@.", program.packageName() + '.').replace("NEXT", "" + out.nextLine()).replace("CALL", call));
	}

	/** A constructor behind that of the superclass, which has restored the depth. */
	private void made(Body body) {
		out.put("final Shadow s0 = Shadow.get();");
		out.put("final int b0 = s0.depth - 1;");
		out.put("int sum0 = n0;");
		statements.point(body);
		statements.statement(body);
		statements.throwing(body, 3);
		body.leave();
	}

	private void directive(String word, String rest, Body body) {
		String[] parts = rest.split("\\|", -1);

		switch (word) {
		case "%class":
			out.putSpecial(rest);
			break;
		case "%foreign":
			ways.foreign(body(parts[0]), "Shadow.get()", parts[1], parts[2], null, program.dice.roll(2));
			break;
		case "%plain":
			ways.plain(body(parts[0]), parts[1]);
			break;
		case "%restoring":
			ways.restoring(body(parts[0]), parts[1], 2);
			break;
		case "%statements":
			statements.point(body);
			statements.statement(body);
			break;
		case "%throwing":
			ways.foreign(body(parts[0]), "Shadow.get()", parts[1], parts[2], Callbacks.FAILING, program.dice.roll(2));
			break;
		case "%made":
			made(body(rest));
			break;
		case "%fails":
			if (program.dice.oneIn(3))
				out.put("if (Shadow.yes()) throw new Fail(1);");
			break;
		case "%at":
			body.at();
			break;
		case "%leave":
			body.leave(rest);
			break;
		default:
			throw new AssertionError(word);
		}
	}
}
