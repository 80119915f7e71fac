package random;

import java.io.IOException;
import java.io.InputStream;

/** Loads the classes of one generated program again, by the same names. */
public class Again extends ClassLoader {
	private final String prefix;

	/** of: a class of the program. */
	public Again(Class<?> of) {
		super(Shadow.class.getClassLoader());
		this.prefix = of.getPackageName() + '.';
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
