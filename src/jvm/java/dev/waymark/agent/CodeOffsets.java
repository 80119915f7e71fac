package dev.waymark.agent;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassReader;

/**
 * Bytecode indices: ASM's trees have instructions without them. Reads the lengths of instructions (JVM specification, chapter 6) from the
 * class file; a tree has the same instructions in the same order.
 */
final class CodeOffsets {
	/** Lengths of opcodes 0 to 201, a digit each; 0: depends on operands. */
	private static final String LENGTHS = "1111111111111111" + "2323322222111111" + "1111111111111111" + "1111112222211111"
			+ "1111111111111111" + "1111111111111111" + "1111111111111111" + "1111111111111111"
			+ "1111311111111111" + "1111111113333333" + "3333333332001111" + "1133333335532311" + "3311043355";
	private static final int TABLESWITCH = 170;
	private static final int LOOKUPSWITCH = 171;
	private static final int WIDE = 196;
	private static final int IINC = 132;

	private final ClassReader reader;
	/** Name and descriptor of a method: where its code begins in the file. */
	private final Map<String, Integer> places = new HashMap<>();

	CodeOffsets(ClassReader reader) {
		int interfaces = reader.readUnsignedShort(reader.header + 6);
		int at = reader.header + 8 + 2 * interfaces;

		this.reader = reader;
		at = members(at, false);
		members(at, true);
	}

	/** Fields or methods, from their number on; returns what is behind them. */
	private int members(int at, boolean hasCode) {
		char[] buffer = new char[reader.getMaxStringLength()];
		int count = reader.readUnsignedShort(at);

		at += 2;
		for (int i = 0; i < count; i++) {
			String name = reader.readUTF8(at + 2, buffer) + reader.readUTF8(at + 4, buffer);
			int attributes = reader.readUnsignedShort(at + 6);

			at += 8;
			for (int k = 0; k < attributes; k++) {
				if (hasCode && "Code".equals(reader.readUTF8(at, buffer)))
					places.put(name, at + 6);
				at += 6 + reader.readInt(at + 2);
			}
		}
		return at;
	}

	/** The index of each instruction, in order. */
	int[] of(String name, String descriptor) {
		int at = places.get(name + descriptor);
		int length = reader.readInt(at + 4);
		int[] offsets = new int[length];
		int count = 0;

		for (int off = 0; off < length; off += length(at + 8, off))
			offsets[count++] = off;
		return offsets;
	}

	private int length(int code, int off) {
		int opcode = reader.readByte(code + off);
		int padded = (off & ~3) + 4;

		if (opcode == TABLESWITCH)
			return padded - off + 12 + 4 * (reader.readInt(code + padded + 8) - reader.readInt(code + padded + 4) + 1);
		if (opcode == LOOKUPSWITCH)
			return padded - off + 8 + 8 * reader.readInt(code + padded + 4);
		if (opcode == WIDE)
			return reader.readByte(code + off + 1) == IINC ? 6 : 4;
		return LENGTHS.charAt(opcode) - '0';
	}
}
