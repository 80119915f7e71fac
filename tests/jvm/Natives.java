import java.util.zip.Deflater;

/**
 * Uses CPU time in native code: in a library that keeps a shadow stack (natives.c), also where that has called Java again, in zlib, and in threads of the
 * virtual machine. Natives LIBRARY MS.
 */
public final class Natives {
	private static final byte[] TEXT = new byte[1 << 11];
	private static final byte[] PACKED = new byte[1 << 16];
	private static volatile Object kept;

	private Natives() {
	}

	/** Of the library: calls g, which calls h. */
	private static native void f();

	/** Of the library: its function c calls d, which calls back. */
	private static native void up(int times);

	/** What the shadow stack was at each time. */
	private static native void print();

	private static native long used();

	private static void back(int times) {
		if (times > 1)
			up(times - 1);
		else
			f();
	}

	private static void packs() {
		Deflater deflater = new Deflater();

		deflater.setInput(TEXT);
		deflater.finish();
		deflater.deflate(PACKED);
		deflater.end();
	}

	private static void allocates() {
		Object[] all = new Object[1 << 12];

		for (int i = 0; i < 1 << 11; i++)
			all[i & all.length - 1] = new byte[i & 1023];
		kept = all;
	}

	public static void main(String[] arguments) {
		long most = Long.parseLong(arguments[1]) * 1_000_000;

		System.load(arguments[0]);
		for (int i = 0; i < TEXT.length; i++)
			TEXT[i] = (byte) (i * i % 251);
		for (int i = 0; used() < most; i++) {
			f();
			up(1 + i % 3);
			for (int k = 0; k < 3; k++)
				packs();
			allocates();
		}
		print();
	}
}
