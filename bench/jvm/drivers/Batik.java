import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.PNGTranscoder;

/** Apache's SVG library: pictures with paths, gradients, text and filters become PNG. */
public final class Batik implements Work {
	private static void convert(Path picture, Path image) throws Exception {
		PNGTranscoder transcoder = new PNGTranscoder();

		try (InputStream in = new FileInputStream(picture.toFile()); OutputStream to = new FileOutputStream(image.toFile())) {
			TranscoderInput input = new TranscoderInput(in);

			input.setURI(picture.toUri().toString());
			transcoder.transcode(input, new TranscoderOutput(to));
		}
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		for (Path picture : Inputs.below(inputs.resolve("pictures"), ".svg"))
			convert(picture, scratch.resolve(picture.getFileName() + ".png"));
		out.println("batik " + Inputs.digest(scratch));
	}
}
