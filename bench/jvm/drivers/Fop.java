import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Date;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.fop.apps.FOUserAgent;
import org.apache.fop.apps.FopFactory;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** Apache's formatter: a book of the data, as PDF and as pages in XML. */
public final class Fop implements Work {
	private static byte[] format(Path inputs, String type) throws Exception {
		FopFactory factory = FopFactory.newInstance(inputs.toUri());
		FOUserAgent agent = factory.newFOUserAgent();
		ByteArrayOutputStream result = new ByteArrayOutputStream();

		agent.setCreationDate(new Date(0));
		// Everything above warnings would go to standard error, with the names of packages that Debian leaves out.
		agent.getEventBroadcaster().addEventListener(event -> { });
		new TransformerFactoryImpl().newTransformer(new StreamSource(inputs.resolve("book.xsl").toFile()))
				.transform(new StreamSource(inputs.resolve("data.xml").toFile()),
						new SAXResult(factory.newFop(type, agent, result).getDefaultHandler()));
		return result.toByteArray();
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		// The PDF has a random identifier and the time.
		out.println("fop pdf " + format(inputs, "application/pdf").length / 100);
		String pages = new String(format(inputs, "application/X-fop-intermediate-format"), StandardCharsets.UTF_8);
		out.println("fop pages " + Inputs.digest(pages.replaceFirst("<xmp:MetadataDate>[^<]*", "").getBytes(StandardCharsets.UTF_8)));
	}
}
