import java.io.PrintStream;
import java.nio.file.Path;
import javax.xml.transform.Transformer;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** Apache's XSLT processor: a page with tables of the data. */
public final class Xalan implements Work {
	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		TransformerFactoryImpl factory = new TransformerFactoryImpl();
		Transformer transformer = factory.newTransformer(new StreamSource(inputs.resolve("page.xsl").toFile()));

		for (int i = 0; i < 3; i++) {
			transformer.setParameter("page", Integer.toString(i));
			transformer.transform(new StreamSource(inputs.resolve("data.xml").toFile()),
					new StreamResult(scratch.resolve("page" + i + ".html").toFile()));
		}
		out.println("xalan " + Inputs.digest(scratch));
	}
}
