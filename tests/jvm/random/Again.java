package random;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;

/** Loads the classes of one generated program again, by the same names. */
public class Again extends ClassLoader {
	/** What programs catch. The virtual machine looks for it with an exception in hand, which the agent says it does not see. */
	private static final Set<String> CAUGHT = Set.of("random.Fail", "java.lang.Throwable", "java.lang.Error",
			"java.lang.RuntimeException", "java.lang.StackOverflowError", "java.lang.ReflectiveOperationException",
			"java.lang.ClassNotFoundException", "java.io.IOException");

	private final String prefix;

	/** of: a class of the program. */
	public Again(Class<?> of) {
		super(Shadow.class.getClassLoader());
		this.prefix = of.getPackageName() + '.';
	}

	protected static boolean isCaught(String name) {
		return CAUGHT.contains(name);
	}

	protected final boolean isOwn(String name) {
		return name.startsWith(prefix);
	}

	@Override
	protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
		synchronized (getClassLoadingLock(name)) {
			Class<?> known = findLoadedClass(name);

			if (known == null && isOwn(name))
				known = define(name);
			return known != null ? known : super.loadClass(name, isResolved);
		}
	}

	private Class<?> define(String name) throws ClassNotFoundException {
		try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
			if (in == null)
				throw new ClassNotFoundException(name);
			byte[] bytes = in.readAllBytes();
			return defineClass(name, bytes, 0, bytes.length);
		} catch (IOException e) {
			throw new ClassNotFoundException(name, e);
		}
	}
}
