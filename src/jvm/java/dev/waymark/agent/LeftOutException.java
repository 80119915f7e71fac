package dev.waymark.agent;

/** A method stays as it is, and so is foreign. */
final class LeftOutException extends RuntimeException {
	private static final long serialVersionUID = 1;

	/** Name and descriptor. */
	final String method;

	LeftOutException(String method, String why) {
		super(why, null, false, false);
		this.method = method;
	}
}
