import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/**
 * Relocate OUT-JAR IN... - writes a jar of the classes of folders and jars. ASM becomes dev.waymark.asm, so that it cannot meet an ASM
 * of the application, and what names dev.waymark.agent.ThreadState names java.lang.Thread (STUBS). Equal input gives equal bytes.
 */
public final class Relocate {
	/** Classes that stand for those of the virtual machine. */
	private static final Map<String, String> STUBS = Map.of("dev/waymark/agent/ThreadState", "java/lang/Thread",
			"dev/waymark/agent/ForceInline", "jdk/internal/vm/annotation/ForceInline");

	private static final Remapper NAMES = new Remapper() {
		@Override
		public String map(String name) {
			return name.startsWith("org/objectweb/asm/") ? "dev/waymark/asm/" + name.substring(18) : STUBS.getOrDefault(name, name);
		}
	};

	private final Map<String, byte[]> classes = new TreeMap<>();

	private void add(byte[] bytes) {
		ClassReader reader = new ClassReader(bytes);
		ClassWriter writer = new ClassWriter(0);

		if (STUBS.containsKey(reader.getClassName()) || reader.getClassName().equals("module-info"))
			return;
		reader.accept(new ClassRemapper(writer, NAMES), 0);
		classes.put(NAMES.map(reader.getClassName()) + ".class", writer.toByteArray());
	}

	private void addFolder(Path folder) throws IOException {
		List<Path> files;

		try (Stream<Path> all = Files.walk(folder)) {
			files = all.filter(path -> path.toString().endsWith(".class")).collect(Collectors.toList());
		}
		for (Path file : files)
			add(Files.readAllBytes(file));
	}

	private void addJar(Path path) throws IOException {
		try (JarFile jar = new JarFile(path.toFile())) {
			for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements();) {
				JarEntry entry = entries.nextElement();
				if (entry.getName().endsWith(".class"))
					add(jar.getInputStream(entry).readAllBytes());
			}
		}
	}

	private static void put(ZipOutputStream out, String name, byte[] bytes) throws IOException {
		ZipEntry entry = new ZipEntry(name);

		entry.setTime(315532800000L); /* 1980: the first that the format has */
		out.putNextEntry(entry);
		out.write(bytes);
		out.closeEntry();
	}

	public static void main(String[] arguments) throws IOException {
		Relocate relocate = new Relocate();

		for (int i = 1; i < arguments.length; i++) {
			Path path = Path.of(arguments[i]);
			if (Files.isDirectory(path))
				relocate.addFolder(path);
			else
				relocate.addJar(path);
		}
		try (OutputStream file = Files.newOutputStream(Path.of(arguments[0])); ZipOutputStream out = new ZipOutputStream(file)) {
			put(out, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n\n".getBytes(StandardCharsets.US_ASCII));
			for (Map.Entry<String, byte[]> entry : relocate.classes.entrySet())
				put(out, entry.getKey(), entry.getValue());
		}
	}
}
