import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.spi.ToolProvider;

/** The JDK's compiler, whose module the loader of applications loads. */
public final class Javac implements Work {
	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		StringWriter said = new StringWriter();
		PrintWriter writer = new PrintWriter(said, true);
		int status = ToolProvider.findFirst("javac").orElseThrow().run(writer, writer, Inputs.compilation(inputs, scratch));

		out.println("javac " + status + " " + Inputs.digest(scratch));
		out.println(said.toString().replace(inputs.toString(), ""));
	}
}
