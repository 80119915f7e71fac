import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.mozilla.javascript.BaseFunction;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.Scriptable;

/** JavaScript on the JVM: the same script by its interpreter and compiled to classes. */
public final class Rhino implements Work {
	private static final class Print extends BaseFunction {
		private static final long serialVersionUID = 1;
		private final transient PrintStream out;

		Print(PrintStream out) {
			this.out = out;
		}

		@Override
		public Object call(Context context, Scriptable scope, Scriptable self, Object[] arguments) {
			for (int i = 0; i < arguments.length; i++)
				out.print((i > 0 ? " " : "") + Context.toString(arguments[i]));
			out.println();
			return Context.getUndefinedValue();
		}
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		String script = Files.readString(inputs.resolve("work.js"));

		for (int level : new int[] {-1, 9}) {
			Context context = Context.enter();

			try {
				Scriptable scope = context.initStandardObjects();

				context.setOptimizationLevel(level);
				scope.put("print", scope, new Print(out));
				context.evaluateString(scope, script, "work.js", 1, null);
			} finally {
				Context.exit();
			}
		}
	}
}
