/** The shortest program: what starting costs. */
public final class Hello {
	private Hello() {
	}

	public static void main(String[] args) {
		System.out.println("hello");
	}
}
