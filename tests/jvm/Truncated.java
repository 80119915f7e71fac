import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Truncates the recordings in this directory and goes on; a file of its own that is too short is the virtual machine's to tell. */
class Truncated {
	static final Object[] kept = new Object[100];

	static void allocate(int depth) {
		if (depth > 0) {
			allocate(depth - 1);
			return;
		}
		for (int i = 0; i < 100_000; i++)
			kept[i % kept.length] = new int[50];
	}

	static int truncateAll() throws IOException {
		int count = 0;

		try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("."), "*.wmk")) {
			for (Path path : files) {
				try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
					file.truncate(0);
				}
				count++;
			}
		}
		return count;
	}

	static String readMissing() throws IOException {
		Path path = Path.of("own.bin");

		Files.write(path, new byte[8192]);
		try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			MappedByteBuffer buffer = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192);

			file.truncate(0);
			return "read " + buffer.get(5000);
		} catch (InternalError error) {
			return "InternalError";
		}
	}

	public static void main(String[] arguments) throws Exception {
		for (int i = 0; i < 20; i++)
			allocate(i);
		System.out.println("truncated " + truncateAll());
		for (int i = 0; i < 20; i++)
			allocate(i);
		System.out.println(readMissing());
		Thread other = new Thread(() -> allocate(30));
		other.start();
		other.join();
	}
}
