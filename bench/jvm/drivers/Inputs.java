import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Files that the programs read and write. */
final class Inputs {
	/** Packages of the JDK that javac's sources use and modules do not export. */
	private static final List<String> INTERNAL = List.of("java.base/jdk.internal.jmod", "java.base/jdk.internal.misc",
			"java.base/sun.reflect.annotation", "jdk.compiler/com.sun.tools.doclint");

	private Inputs() {
	}

	/** The files below a folder whose names end so, in an order that does not depend on the file system. */
	static List<Path> below(Path folder, String end) throws IOException {
		try (Stream<Path> all = Files.walk(folder)) {
			return all.filter(path -> path.toString().endsWith(end) && Files.isRegularFile(path)).sorted().collect(Collectors.toList());
		}
	}

	static List<Path> sources(Path inputs) throws IOException {
		return below(inputs.resolve("java"), ".java");
	}

	/** What compilers are asked to do: javac's own sources, as packages of another name. */
	static String[] compilation(Path inputs, Path scratch, String... options) throws IOException {
		List<String> ret = new ArrayList<>(List.of(options));

		ret.addAll(List.of("-nowarn", "-proc:none", "-d", scratch.toString()));
		for (String name : INTERNAL)
			ret.addAll(List.of("--add-exports", name + "=ALL-UNNAMED"));
		for (Path source : below(inputs.resolve("twin"), ".java"))
			ret.add(source.toString());
		return ret.toArray(new String[0]);
	}

	/** How many files a folder has, and a digest of their names and contents. */
	static String digest(Path folder) throws IOException, NoSuchAlgorithmException {
		MessageDigest digest = MessageDigest.getInstance("SHA-256");
		List<Path> files = below(folder, "");

		for (Path file : files) {
			digest.update(folder.relativize(file).toString().getBytes());
			digest.update(Files.readAllBytes(file));
		}
		return files.size() + " files " + text(digest);
	}

	static String digest(byte[] bytes) throws NoSuchAlgorithmException {
		MessageDigest digest = MessageDigest.getInstance("SHA-256");

		digest.update(bytes);
		return text(digest);
	}

	private static String text(MessageDigest digest) {
		return String.format("%064x", new BigInteger(1, digest.digest()));
	}

	static void empty(Path folder) throws IOException {
		List<Path> all;

		if (Files.exists(folder)) {
			try (Stream<Path> found = Files.walk(folder)) {
				all = found.sorted(Comparator.reverseOrder()).collect(Collectors.toList());
			}
			for (Path path : all)
				Files.delete(path);
		}
		Files.createDirectories(folder);
	}
}
