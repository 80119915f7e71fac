package random;

/** The superclass of a program's classes: in the arguments for its constructor, a frame begins before there are initialisers. */
public class Root {
	public int value;

	public Root(int n) {
		value = n;
	}
}
