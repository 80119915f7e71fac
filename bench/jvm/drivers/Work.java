import java.io.PrintStream;
import java.nio.file.Path;

/** A program whose work can be repeated in one virtual machine. */
interface Work {
	/**
	 * Does the work once. inputs: what inputs.sh made. scratch: an empty folder. out: takes what must be the same each time and in each
	 * process, so no times and no names of temporary files.
	 */
	void run(Path inputs, Path scratch, PrintStream out) throws Exception;
}
