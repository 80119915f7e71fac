package dev.waymark.agent;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.MethodNode;

/**
 * A rewritten class without numbers, for c/classes/template.h, which has the format. The encoders put constants where numbers are to be. One thread.
 */
final class Template {
	/** c/classes/template.c. The index of the method or the site is in the low 24 bits; class files have fewer constants. */
	private static final long METHOD_CONSTANT = 0x57a6d1c3e5000000L;
	private static final long SITE_CONSTANT = 0x57a6d1c3e6000000L;
	private static final long MASK_CONSTANT = 0x57a6d1c3e7000000L;

	private static final int MAGIC = 0x32544d57;
	private static final int NONE = -1;
	private static final int HEADER_WORDS = 12;
	private static final int METHOD_WORDS = 9;
	/** Words of a method. */
	private static final int UNDOES = 4;
	private static final int SITES = 6;
	private static final int IS_PARTIAL = 1;
	private static final int HAS_NUMBER = 1;
	private static final int HAS_CODES = 2;
	private static final int IS_SYNCHRONIZED = 4;

	/** Words that are added at the end. */
	private static final class Words {
		private int[] items = new int[256];
		private int count;

		void add(int... added) {
			if (count + added.length > items.length)
				items = Arrays.copyOf(items, 2 * count + added.length);
			System.arraycopy(added, 0, items, count, added.length);
			count += added.length;
		}
	}

	/** Bytes that are added at the end, the lowest of a word first. */
	private static final class Bytes {
		private byte[] items = new byte[4096];
		private int count;

		private void makeRoom(int added) {
			if (count + added > items.length)
				items = Arrays.copyOf(items, 2 * count + added);
		}

		void add(int value) {
			makeRoom(1);
			items[count++] = (byte) value;
		}

		void add(Words words) {
			makeRoom(4 * words.count);
			for (int i = 0; i < words.count; i++)
				for (int shift = 0; shift < 32; shift += 8)
					items[count++] = (byte) (words.items[i] >> shift);
		}

		void add(byte[] added, int length) {
			makeRoom(length + 3);
			System.arraycopy(added, 0, items, count, length);
			count += length;
		}

		void pad() {
			while (count % 4 != 0)
				add(0);
		}

		/** As class files have it: in two bytes where one would end the text. */
		void add(String text) {
			makeRoom(3 * text.length() + 1);
			for (int i = 0; i < text.length(); i++)
				add(text.charAt(i));
			items[count++] = 0;
		}

		private void add(char c) {
			if (c != 0 && c < 0x80) {
				items[count++] = (byte) c;
				return;
			}
			if (c >= 0x800)
				items[count++] = (byte) (0xe0 | c >> 12);
			items[count++] = (byte) (c >= 0x800 ? 0x80 | c >> 6 & 0x3f : 0xc0 | c >> 6);
			items[count++] = (byte) (0x80 | c & 0x3f);
		}
	}

	private final Map<String, Integer> strings = new HashMap<>();
	private final Words starts = new Words();
	private final Bytes texts = new Bytes();
	private final Words methods = new Words();
	private final Words sites = new Words();
	private int methodCount;
	private int siteCount;

	/** The constant of a method, which c/classes/template.c finds. */
	static long ofMethod(int method) {
		return METHOD_CONSTANT | method;
	}

	static long maskOfMethod(int method) {
		return MASK_CONSTANT | method;
	}

	static long ofSite(int site) {
		return SITE_CONSTANT | site;
	}

	/** The number of a string; null: NONE. */
	private int string(String text) {
		if (text == null)
			return NONE;
		Integer known = strings.get(text);

		if (known != null)
			return known;
		starts.add(texts.count);
		texts.add(text);
		strings.put(text, strings.size());
		return strings.size() - 1;
	}

	/** isKnown: are its contexts known, and has its code a place for the number? */
	int addMethod(MethodNode method, String space, int line, boolean isKnown) {
		int flags = (isKnown ? HAS_NUMBER : 0) | (Encoder.isLucce() ? 0 : HAS_CODES)
				| ((method.access & Opcodes.ACC_SYNCHRONIZED) != 0 ? IS_SYNCHRONIZED : 0);

		methods.add(string(method.name), string(method.desc), string(space), line, NONE, flags, 0, 0, 0);
		return methodCount++;
	}

	/** The method, which is the last one, undoes calls of the constructor that has the name in SuperCalls. */
	void addUndoing(String constructor) {
		methods.items[methods.count - METHOD_WORDS + UNDOES] = string(constructor);
	}

	/** Adds a site to the method that was added last. callee: by its name; null: not known. */
	int addSite(int kind, int position, int line, String callee, Spaces.Call call) {
		sites.add(kind, call.kind, string(call.name), position, line, string(callee), string(call.constructor), 0);
		methods.items[methods.count - METHOD_WORDS + SITES]++;
		return siteCount++;
	}

	/**
	 * classFile: the class with the constants. isPartial: methods were left out. The others are as they are to be shown; file: null if it is not
	 * known.
	 */
	byte[] toBytes(String loader, String name, String file, byte[] classFile, boolean isPartial) {
		Bytes bytes = new Bytes();
		Words header = new Words();
		int loaderString = string(loader), nameString = string(name), fileString = string(file);
		int front = 4 * (HEADER_WORDS + methods.count + sites.count + starts.count) + texts.count;
		int all = (front + 3 & ~3) + (classFile.length + 3 & ~3);

		header.add(MAGIC, all, methodCount, siteCount, starts.count, texts.count, classFile.length, 0, loaderString, nameString,
				fileString, isPartial ? IS_PARTIAL : 0);
		bytes.add(header);
		bytes.add(methods);
		bytes.add(sites);
		bytes.add(starts);
		bytes.add(texts.items, texts.count);
		bytes.pad();
		bytes.add(classFile, classFile.length);
		bytes.pad();
		return Arrays.copyOf(bytes.items, all);
	}
}
