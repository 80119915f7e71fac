import com.puppycrawl.tools.checkstyle.Checker;
import com.puppycrawl.tools.checkstyle.ConfigurationLoader;
import com.puppycrawl.tools.checkstyle.DefaultLogger;
import com.puppycrawl.tools.checkstyle.PropertiesExpander;
import com.puppycrawl.tools.checkstyle.api.AutomaticBean.OutputStreamOptions;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;

/** The checker of coding styles, with Sun's rules. */
public final class Checkstyle implements Work {
	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		ByteArrayOutputStream said = new ByteArrayOutputStream();
		Checker checker = new Checker();
		// The smallest files: the whole would take a minute.
		List<File> files = Inputs.sources(inputs).stream().map(Path::toFile).filter(file -> file.length() < 16000).collect(Collectors.toList());

		checker.setModuleClassLoader(Checker.class.getClassLoader());
		checker.configure(ConfigurationLoader.loadConfiguration("/sun_checks.xml", new PropertiesExpander(new Properties())));
		checker.addListener(new DefaultLogger(said, OutputStreamOptions.NONE));
		int errors = checker.process(files);
		checker.destroy();
		// Of two checks that say the same of a place one is named; which one depends on addresses.
		out.println("checkstyle " + files.size() + " files " + errors + " errors "
				+ Inputs.digest(said.toString().replaceAll("\\[\\w+\\]\n", "\n").replace(inputs.toString(), "").getBytes()));
	}
}
