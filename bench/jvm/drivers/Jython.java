import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Properties;
import org.python.util.PythonInterpreter;

/** Python on the JVM: compiles modules to classes and runs them. */
public final class Jython implements Work {
	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		Properties properties = new Properties();

		properties.setProperty("python.home", "/usr/share/jython");
		properties.setProperty("python.cachedir.skip", "true");
		PythonInterpreter.initialize(System.getProperties(), properties, new String[] {"work.py"});
		try (PythonInterpreter python = new PythonInterpreter()) {
			python.setOut(out);
			python.execfile(inputs.resolve("work.py").toString());
		}
	}
}
