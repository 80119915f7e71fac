import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.sunflow.SunflowAPI;
import org.sunflow.core.Display;
import org.sunflow.image.Color;
import org.sunflow.math.Matrix4;
import org.sunflow.math.Point3;
import org.sunflow.math.Vector3;
import org.sunflow.system.UI;

/** The renderer: a scene in two threads. */
public final class Sunflow implements Work {
	/** Keeps the picture in memory. */
	private static final class Memory implements Display {
		private int[] pixels;
		private int width;

		@Override
		public void imageBegin(int w, int h, int bucketSize) {
			width = w;
			pixels = new int[w * h];
		}

		@Override
		public void imagePrepare(int x, int y, int w, int h, int id) {
		}

		@Override
		public synchronized void imageUpdate(int x, int y, int w, int h, Color[] data, float[] alpha) {
			for (int j = 0, i = 0; j < h; j++)
				for (int k = 0; k < w; k++, i++)
					pixels[(y + j) * width + x + k] = data[i].copy().toNonLinear().toRGB();
		}

		@Override
		public synchronized void imageFill(int x, int y, int w, int h, Color colour, float alpha) {
			for (int j = 0; j < h; j++)
				for (int k = 0; k < w; k++)
					pixels[(y + j) * width + x + k] = colour.copy().toNonLinear().toRGB();
		}

		@Override
		public void imageEnd() {
		}
	}

	private static void shader(SunflowAPI api, String name, String type, String parameter, float red, float green, float blue) {
		api.parameter(parameter, null, red, green, blue);
		api.shader(name, type);
	}

	private static void object(SunflowAPI api, String name, String type, String shader, Matrix4 place) {
		api.geometry(name, type);
		api.parameter("transform", place);
		api.parameter("shaders", shader);
		api.instance(name + ".instance", name);
	}

	private static Matrix4 at(float x, float y, float z, float size) {
		return Matrix4.translation(x, y, z).multiply(Matrix4.scale(size));
	}

	private static void build(SunflowAPI api) {
		shader(api, "floor", "diffuse", "diffuse", 0.7f, 0.7f, 0.6f);
		shader(api, "mirror", "mirror", "color", 0.8f, 0.8f, 0.9f);
		shader(api, "glass", "glass", "color", 0.9f, 0.95f, 1);
		shader(api, "shiny", "shiny_diffuse", "diffuse", 0.8f, 0.2f, 0.1f);
		object(api, "ground", "plane", "floor", Matrix4.IDENTITY);
		object(api, "first", "sphere", "mirror", at(-2, 0, 1, 1));
		object(api, "second", "sphere", "glass", at(0.5f, -1.5f, 0.8f, 0.8f));
		for (int i = 0; i < 12; i++)
			object(api, "ball" + i, "sphere", "shiny", at(i % 4 - 0.3f * i, 1 + i / 3, 0.3f + i * 0.1f, 0.3f));
		api.parameter("radiance", null, 60, 60, 50);
		api.parameter("center", new Point3(5, -5, 8));
		api.parameter("radius", 1f);
		api.parameter("samples", 8);
		api.light("lamp", "sphere");
		api.parameter("transform", Matrix4.lookAt(new Point3(4, -9, 4), new Point3(0, 0, 1), new Vector3(0, 0, 1)));
		api.parameter("fov", 45f);
		api.parameter("aspect", 4 / 3f);
		api.camera("camera", "pinhole");
		api.parameter("camera", "camera");
		api.parameter("resolutionX", 320);
		api.parameter("resolutionY", 240);
		api.parameter("aa.min", 0);
		api.parameter("aa.max", 1);
		api.parameter("bucket.size", 16);
		api.parameter("threads", 2);
		api.parameter("gi.engine", "ambocc");
		api.parameter("gi.ambocc.samples", 16);
		api.options(SunflowAPI.DEFAULT_OPTIONS);
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		Memory picture = new Memory();
		SunflowAPI api = new SunflowAPI();

		UI.set(null);
		build(api);
		api.render(SunflowAPI.DEFAULT_OPTIONS, picture);
		ByteBuffer bytes = ByteBuffer.allocate(4 * picture.pixels.length);
		bytes.asIntBuffer().put(picture.pixels);
		out.println("sunflow " + picture.pixels.length + ' ' + Inputs.digest(bytes.array()));
	}
}
