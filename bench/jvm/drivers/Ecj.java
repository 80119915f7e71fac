import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/** Eclipse's compiler. */
public final class Ecj implements Work {
	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		StringWriter said = new StringWriter();
		PrintWriter writer = new PrintWriter(said, true);
		boolean isCompiled = BatchCompiler.compile(Inputs.compilation(inputs, scratch, "-17"), writer, writer, null);

		out.println("ecj " + isCompiled + " " + Inputs.digest(scratch));
		out.println(said.toString().replace(inputs.toString(), ""));
	}
}
