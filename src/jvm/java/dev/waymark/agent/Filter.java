package dev.waymark.agent;

import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Which classes are instrumented, by globs of their names. Any thread. */
final class Filter {
	/** Classes that the code of the agent uses in the middle of a method's entry, and classes that the virtual machine treats by name. */
	private static final String NEVER = "dev.waymark.*:jdk.internal.*:java.lang.*:java.util.Arrays:java.util.Objects";

	/** null: all of the application. */
	private static Pattern included;
	/** null: none. */
	private static Pattern excluded;
	private static Pattern jdk;
	/** The pattern of NEVER, if there is `jdk`: programs start sooner without a pattern. */
	private static Pattern neverOfJdk;

	private Filter() {
	}

	/** Globs with colons between them, as options have them; empty: not given. Before a class is rewritten. */
	static void choose(String include, String exclude, String jdkInclude) {
		included = include.isEmpty() ? null : globs(include);
		excluded = exclude.isEmpty() ? null : globs(exclude);
		jdk = jdkInclude.isEmpty() ? null : globs(jdkInclude);
		neverOfJdk = jdk == null ? null : globs(NEVER);
	}

	private static Pattern globs(String text) {
		return Pattern.compile(Arrays.stream(text.split(":")).map(glob -> "\\Q" + glob.replace("*", "\\E.*\\Q") + "\\E")
				.collect(Collectors.joining("|")));
	}

	private static boolean matches(Pattern pattern, String name) {
		return pattern.matcher(name).matches();
	}

	/** loader: null for that of the virtual machine. name: with slashes. */
	static boolean isWanted(ClassLoader loader, String name) {
		String dotted = name.replace('/', '.');

		if (loader == null || loader == ClassLoader.getPlatformClassLoader())
			return isWantedOfJdk(dotted);
		if (dotted.startsWith("dev.waymark.") || dotted.startsWith("jdk.internal."))
			return false;
		return (included == null || matches(included, dotted)) && (excluded == null || !matches(excluded, dotted));
	}

	/** May code of the JDK be instrumented? Then any other code of it can call such code. */
	static boolean hasJdk() {
		return jdk != null;
	}

	/** name: with dots, of a class of the JDK. */
	static boolean isWantedOfJdk(String name) {
		return jdk != null && matches(jdk, name) && !matches(neverOfJdk, name);
	}
}
